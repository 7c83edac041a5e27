import type { Organization } from "@atelier/client"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { ChevronRight, Plus } from "lucide-react"
import { useMay } from "../../app/session.js"
import { rolesText } from "../../texts/people.js"
import { Badge } from "../../ui/Badge.js"
import { ButtonLink } from "../../ui/Button.js"
import { Section } from "../../ui/Page.js"
import { ErrorState, SkeletonLines } from "../../ui/States.js"
import { OrganizationFrame } from "./OrganizationFrame.js"
import { organizationRolesQuery } from "./queries.js"
import "./people.css"

export const RoleList = () => {
  const { organization } = useParams({ from: "/organizations/$organization/roles" })
  return <OrganizationFrame name={organization}>{(known) => <Roles organization={known} />}</OrganizationFrame>
}

const Roles = ({ organization: { id, name: organization } }: { readonly organization: Organization }) => {
  const { data, error, isLoadingError, refetch } = useQuery(organizationRolesQuery(id))
  const may = useMay({ create: { on: "assign_org_role", to: "create", organization: id } })
  const custom = data?.filter(({ built_in }) => !built_in) ?? []
  const builtIn = data?.filter(({ built_in }) => built_in) ?? []
  const rowOf = ({ built_in, display_name, name, organization_permissions }: (typeof custom)[number]) => (
    <Link key={name} className="people-row people-open" to="/organizations/$organization/roles/$role" params={{ organization, role: name }}>
      <span className="people-row-main people-names">
        <span className="truncate">{display_name || name}</span>
        <span className="people-second truncate">{name}</span>
      </span>
      {built_in ? (
        <Badge>{rolesText.builtIn}</Badge>
      ) : (
        <span className="faint">{rolesText.permissionCount(organization_permissions.length)}</span>
      )}
      <ChevronRight aria-hidden className="people-chevron" />
    </Link>
  )
  if (isLoadingError) return <ErrorState error={error} onRetry={refetch} />
  if (data === undefined) {
    return (
      <Section>
        <SkeletonLines count={5} />
      </Section>
    )
  }
  return (
    <>
      <Section
        isFlush
        title={rolesText.custom}
        actions={
          may.create ? (
            <ButtonLink kind="primary" icon={<Plus aria-hidden />} to="/organizations/$organization/create-role" params={{ organization }}>
              {rolesText.create}
            </ButtonLink>
          ) : undefined
        }
      >
        {custom.length === 0 ? <p className="people-row muted">{rolesText.noCustom}</p> : custom.map(rowOf)}
      </Section>
      <Section isFlush title={rolesText.builtIn}>
        {builtIn.map(rowOf)}
      </Section>
    </>
  )
}

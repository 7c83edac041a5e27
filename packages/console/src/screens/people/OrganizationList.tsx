import * as organizations from "@atelier/client/organizations"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { Building2, ChevronRight, Plus } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { organizationsText } from "../../texts/people.js"
import { dialogText } from "../../texts/ui.js"
import { Avatar } from "../../ui/Avatar.js"
import { Badge } from "../../ui/Badge.js"
import { Button } from "../../ui/Button.js"
import { Dialog } from "../../ui/Dialog.js"
import { Form, FormActions } from "../../ui/Form.js"
import { Page, PageHeader, Section } from "../../ui/Page.js"
import { Empty, ErrorState, SkeletonLines } from "../../ui/States.js"
import { notify } from "../../ui/Toast.js"
import { OrganizationFields, organizationOf } from "./OrganizationFields.js"
import "./people.css"

export const OrganizationList = () => {
  const [isCreating, setCreating] = useState(false)
  const may = useMay({ create: { on: "organization", to: "create" } })
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: ["organizations", "list"],
    queryFn: ({ signal }) => organizations.listOrganizations(client, { signal })
  })
  const close = (): void => setCreating(false)
  return (
    <Page width="medium">
      <PageHeader
        title={organizationsText.title}
        description={organizationsText.description}
        actions={
          may.create ? (
            <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
              {organizationsText.create}
            </Button>
          ) : undefined
        }
      />
      <Section isFlush>
        {isLoadingError ? (
          <ErrorState error={error} onRetry={refetch} />
        ) : data === undefined ? (
          <div className="people-row">
            <SkeletonLines count={2} />
          </div>
        ) : data.length === 0 ? (
          <Empty icon={<Building2 />} title={organizationsText.none} />
        ) : (
          data.map(({ description, display_name, icon, id, is_default, name }) => (
            <Link key={id} className="people-row people-open" to="/organizations/$organization/members" params={{ organization: name }}>
              <Avatar name={display_name || name} src={icon} size={30} isThing />
              <span className="people-row-main people-names">
                <span className="truncate">{display_name || name}</span>
                <span className="people-second truncate">{description || name}</span>
              </span>
              {is_default ? <Badge>{organizationsText.isDefault}</Badge> : null}
              <ChevronRight aria-hidden className="people-chevron" />
            </Link>
          ))
        )}
      </Section>
      <Dialog isOpen={isCreating} onClose={close} title={organizationsText.createTitle}>
        <Form
          onSubmit={async (form) => {
            const created = await organizations.createOrganization(client, { body: organizationOf(form) })
            await queryClient.invalidateQueries({ queryKey: ["organizations"] })
            await queryClient.invalidateQueries({ queryKey: ["me", "organizations"] })
            close()
            notify(organizationsText.created(created.display_name || created.name))
            void navigate({ to: "/organizations/$organization/members", params: { organization: created.name } })
          }}
        >
          <OrganizationFields />
          <FormActions>
            <Button onClick={close}>{dialogText.cancel}</Button>
            <Button type="submit" kind="primary">
              {organizationsText.create}
            </Button>
          </FormActions>
        </Form>
      </Dialog>
    </Page>
  )
}

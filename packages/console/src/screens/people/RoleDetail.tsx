/** A role of an organization: what its holders may do, as a matrix. */
import type { AssignableRoles } from "@atelier/client"
import * as members from "@atelier/client/members"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { organizationsText, rolesText } from "../../texts/people.js"
import { Button } from "../../ui/forms/Button.js"
import { Callout } from "../../ui/page/Callout.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { Checkbox, Field, Input } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { Page, PageHeader, Section } from "../../ui/page/Page.js"
import { spoken } from "../../ui/page/spoken.js"
import { ErrorState, NoAccess, SkeletonLines } from "../../ui/page/States.js"
import { notify } from "../../ui/floating/Toast.js"
import { organizationPermissions, pairOf } from "./permissions.js"
import { organizationQuery, organizationRolesQuery } from "./queries.js"
import "./people.css"

export const RoleDetail = () => {
  const { organization, role } = useParams({ from: "/organizations/$organization/roles/$role" })
  return <RoleScreen name={organization} roleName={role} />
}

export const RoleCreation = () => {
  const { organization } = useParams({ from: "/organizations/$organization/create-role" })
  return <RoleScreen name={organization} roleName={undefined} />
}

interface Props {
  readonly name: string
  /** Undefined for one that is made. */
  readonly roleName: string | undefined
}

const RoleScreen = ({ name, roleName }: Props) => {
  const { data: organization, error } = useQuery(organizationQuery(name))
  const roles = useQuery({ ...organizationRolesQuery(organization?.id ?? ""), enabled: organization !== undefined })
  const role = roles.data?.find((one) => one.name === roleName)
  const isLoaded = organization !== undefined && roles.data !== undefined
  const failure = error ?? roles.error
  const title = roleName === undefined ? rolesText.createTitle : role?.display_name || roleName
  const crumbs = [
    { label: organizationsText.title, link: { to: "/organizations" } as const },
    {
      label: organization?.display_name || name,
      link: { to: "/organizations/$organization/roles", params: { organization: name } } as const
    }
  ]
  return (
    <Page width="medium">
      <PageHeader crumbs={crumbs} title={title} description={role?.built_in === true ? rolesText.fixed : undefined} />
      {failure !== null ? (
        <ErrorState error={failure} onRetry={roles.refetch} />
      ) : !isLoaded ? (
        <Section>
          <SkeletonLines count={6} />
        </Section>
      ) : role === undefined && roleName !== undefined ? (
        <NoAccess />
      ) : (
        <Editor key={role?.name ?? ""} organization={{ id: organization.id, name }} role={role} />
      )}
    </Page>
  )
}

interface EditorProps {
  readonly organization: { readonly id: string; readonly name: string }
  readonly role: AssignableRoles | undefined
}

/** The pairs of a kind and an action that a role allows. */
const useAllowed = (given: AssignableRoles["organization_permissions"]) => {
  const [allowed, setAllowed] = useState<ReadonlySet<string>>(
    () => new Set(given.filter(({ negate }) => !negate).map(({ action, resource_type }) => pairOf(resource_type, action)))
  )
  const isAllowed = (kind: string, action: string): boolean =>
    allowed.has(pairOf(kind, action)) || allowed.has(pairOf(kind, "*")) || allowed.has(pairOf("*", action)) || allowed.has(pairOf("*", "*"))
  const set = (pairs: ReadonlyArray<string>, isOn: boolean): void => {
    const next = new Set(allowed)
    for (const pair of pairs) {
      if (isOn) next.add(pair)
      else next.delete(pair)
    }
    setAllowed(next)
  }
  return { allowed, isAllowed, set }
}

type Allowed = ReturnType<typeof useAllowed>

const Editor = ({ organization, role }: EditorProps) => {
  const on = { on: "assign_org_role", organization: organization.id }
  const may = useMay({ change: { ...on, to: role === undefined ? "create" : "update" }, delete: { ...on, to: "delete" } })
  const given = role?.organization_permissions ?? []
  const allowed = useAllowed(given)
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const isFixed = role?.built_in === true || !may.change
  const denied = given.filter(({ negate }) => negate)
  const leave = (): void => void navigate({ to: "/organizations/$organization/roles", params: { organization: organization.name } })

  return (
    <Form
      onSubmit={async (form) => {
        const permissions = Array.from(allowed.allowed, (pair) => {
          const [resource_type = "", action = ""] = pair.split(":")
          return { resource_type, action, negate: false }
        })
        const body = {
          name: role?.name ?? String(form.get("name")).trim(),
          display_name: String(form.get("display_name")).trim(),
          site_permissions: [],
          user_permissions: [],
          organization_permissions: permissions
        }
        if (role === undefined) await members.createCustomRole(client, { organization: organization.id, body })
        else await members.updateCustomRole(client, { organization: organization.id, body })
        await queryClient.invalidateQueries({ queryKey: ["roles"] })
        notify(role === undefined ? rolesText.created(body.display_name || body.name) : rolesText.saved)
        leave()
      }}
    >
      {isFixed ? null : <NameFields role={role} />}
      {denied.length === 0 ? null : (
        <Callout kind="warning" title={rolesText.denied}>
          {denied.map(({ action, resource_type }) => pairOf(resource_type, action)).join(", ")}
        </Callout>
      )}
      <Matrix allowed={allowed} isFixed={isFixed} isShort={role?.built_in === true} />
      {isFixed ? null : (
        <FormActions>
          {role !== undefined && may.delete ? <DeleteButton organization={organization.id} role={role} onDeleted={leave} /> : null}
          <Button type="submit" kind="primary">
            {rolesText.save}
          </Button>
        </FormActions>
      )}
    </Form>
  )
}

/** The name of a role stays; what people read may change. */
const NameFields = ({ role }: { readonly role: AssignableRoles | undefined }) => (
  <Section>
    <div className="people-pair">
      <Field label={rolesText.name} name="name" hint={rolesText.nameHint}>
        <Input
          defaultValue={role?.name}
          disabled={role !== undefined}
          autoFocus={role === undefined}
          spellCheck={false}
          autoCapitalize="off"
        />
      </Field>
      <Field label={rolesText.displayName} name="display_name" isOptional>
        <Input defaultValue={role?.display_name} />
      </Field>
    </div>
  </Section>
)

const kinds = Object.entries<ReadonlyArray<string>>(organizationPermissions)

interface MatrixProps {
  readonly allowed: Allowed
  readonly isFixed: boolean
  /** It begins with what the role allows alone. */
  readonly isShort: boolean
}

/** All kinds and actions, and which of them the role allows. */
const Matrix = ({ allowed: { isAllowed, set }, isFixed, isShort }: MatrixProps) => {
  const [find, setFind] = useState("")
  const [onlyChosen, setOnlyChosen] = useState(isShort)
  const words = find.trim().toLowerCase()
  const shown = kinds.filter(
    ([kind, actions]) => spoken(kind).toLowerCase().includes(words) && (!onlyChosen || actions.some((action) => isAllowed(kind, action)))
  )
  return (
    <Section isFlush title={rolesText.permissions} description={rolesText.matrixHint}>
      <div className="role-find">
        <Input
          aria-label={rolesText.find}
          placeholder={rolesText.find}
          value={find}
          onChange={(event) => setFind(event.target.value)}
          className="role-find-input"
        />
        <Checkbox label={rolesText.onlyChosen} checked={onlyChosen} onChange={(event) => setOnlyChosen(event.target.checked)} />
      </div>
      <div className="role-matrix">
        {shown.map(([kind, actions]) => {
          const pairs = actions.map((action) => pairOf(kind, action))
          const isAll = actions.every((action) => isAllowed(kind, action))
          return (
            <div key={kind} className="role-matrix-row" role="group" aria-label={spoken(kind)}>
              <Checkbox label={spoken(kind)} checked={isAll} disabled={isFixed} onChange={(event) => set(pairs, event.target.checked)} />
              <div className="role-actions">
                {actions.map((action) => (
                  <Checkbox
                    key={action}
                    label={spoken(action)}
                    aria-label={rolesText.allow(spoken(action), spoken(kind))}
                    checked={isAllowed(kind, action)}
                    disabled={isFixed}
                    onChange={(event) => set([pairOf(kind, action)], event.target.checked)}
                  />
                ))}
              </div>
            </div>
          )
        })}
      </div>
    </Section>
  )
}

interface DeleteProps {
  readonly organization: string
  readonly role: AssignableRoles
  readonly onDeleted: () => void
}

const DeleteButton = ({ onDeleted, organization, role }: DeleteProps) => {
  const [isAsked, setAsked] = useState(false)
  const queryClient = useQueryClient()
  return (
    <>
      <Button kind="danger" onClick={() => setAsked(true)}>
        {rolesText.delete}
      </Button>
      <ConfirmDialog
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        title={rolesText.deleteTitle(role.display_name || role.name)}
        description={rolesText.deleteText}
        action={rolesText.delete}
        isDangerous
        onConfirm={async () => {
          await members.deleteCustomRole(client, { organization, roleName: role.name })
          await queryClient.invalidateQueries({ queryKey: ["roles"] })
          notify(rolesText.deleted(role.display_name || role.name))
          onDeleted()
        }}
      />
    </>
  )
}

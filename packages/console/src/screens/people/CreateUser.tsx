import type { LoginType } from "@atelier/client"
import * as logins from "@atelier/client/logins"
import * as users from "@atelier/client/users"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useOrganization, useOrganizations } from "../../app/session.js"
import { usersText } from "../../texts/people.js"
import { dialogText } from "../../texts/ui.js"
import { Button } from "../../ui/forms/Button.js"
import { MultiCombobox } from "../../ui/forms/Combobox.js"
import { Dialog } from "../../ui/floating/Dialog.js"
import { Field, Input, SecretInput, Select } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { notify } from "../../ui/floating/Toast.js"
import { siteRolesQuery } from "./queries.js"

interface Props {
  readonly isOpen: boolean
  readonly onClose: () => void
}

export const CreateUser = ({ isOpen, onClose }: Props) => (
  <Dialog isOpen={isOpen} onClose={onClose} title={usersText.createTitle} size="medium">
    <CreateForm onClose={onClose} />
  </Dialog>
)

const CreateForm = ({ onClose }: Pick<Props, "onClose">) => {
  const all = useOrganizations()
  const chosen = useOrganization() ?? all.find(({ is_default }) => is_default) ?? all[0]
  const [organizations, setOrganizations] = useState<ReadonlyArray<string>>(chosen === undefined ? [] : [chosen.id])
  const [roles, setRoles] = useState<ReadonlyArray<string>>([])
  const [login, setLogin] = useState<Exclude<LoginType, "" | "token">>("password")
  const methods = useQuery({
    queryKey: ["login-methods"],
    queryFn: ({ signal }) => logins.listLoginMethods(client, { signal })
  }).data
  const siteRoles = useQuery(siteRolesQuery).data ?? []
  const queryClient = useQueryClient()
  const ways = (["password", "oidc", "github", "none"] as const).filter(
    (way) => way === "none" || methods === undefined || methods[way].enabled
  )

  return (
    <Form
      onSubmit={async (form) => {
        const name = String(form.get("name")).trim()
        const user = await users.createUser(client, {
          body: {
            email: String(form.get("email") ?? "").trim(),
            username: String(form.get("username")).trim(),
            ...(name === "" ? {} : { name }),
            login_type: login,
            ...(login === "password" ? { password: String(form.get("password")) } : {}),
            ...(login === "none" ? { service_account: true } : {}),
            organization_ids: organizations,
            roles
          }
        })
        await queryClient.invalidateQueries({ queryKey: ["users"] })
        onClose()
        notify(usersText.created(user.username))
      }}
    >
      <div className="people-pair">
        <Field label={usersText.username} name="username" hint={usersText.usernameHint}>
          <Input autoFocus spellCheck={false} autoCapitalize="off" />
        </Field>
        <Field label={usersText.name} name="name" isOptional>
          <Input />
        </Field>
      </div>
      <div className="people-pair">
        <Field label={usersText.loginType} name="login_type">
          <Select
            value={login}
            onChange={(event) => setLogin(ways.find((way) => way === event.target.value) ?? "password")}
            choices={ways.map((way) => ({ value: way, label: usersText.loginTypes[way] }))}
          />
        </Field>
        {login === "none" ? null : (
          <Field label={usersText.email} name="email">
            <Input type="email" />
          </Field>
        )}
      </div>
      {login === "password" ? (
        <Field label={usersText.password} name="password" hint={usersText.passwordHint}>
          <SecretInput autoComplete="new-password" />
        </Field>
      ) : null}
      {all.length < 2 ? null : (
        <Field label={usersText.organizations} name="organization_ids">
          <MultiCombobox
            label={usersText.organizations}
            values={organizations}
            onChange={setOrganizations}
            choices={all.map(({ display_name, id, name }) => ({ value: id, label: display_name || name }))}
          />
        </Field>
      )}
      <Field label={usersText.roles} name="roles" isOptional>
        <MultiCombobox
          label={usersText.roles}
          values={roles}
          onChange={setRoles}
          placeholder={usersText.roles}
          choices={siteRoles
            .filter(({ assignable }) => assignable)
            .map(({ display_name, name }) => ({ value: name, label: display_name || name }))}
        />
      </Field>
      <FormActions>
        <Button onClick={onClose}>{dialogText.cancel}</Button>
        <Button type="submit" kind="primary">
          {usersText.submit}
        </Button>
      </FormActions>
    </Form>
  )
}

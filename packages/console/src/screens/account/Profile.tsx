import * as users from "@atelier/client/users"
import { client } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { useMe, useOrganizations } from "../../app/session.js"
import { accountText, loginNames, profileText } from "../../texts/account.js"
import { Button } from "../../ui/forms/Button.js"
import { Field, Input } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { PropertyList, Section } from "../../ui/page/Page.js"
import { Time } from "../../ui/page/Time.js"
import { notify } from "../../ui/floating/Toast.js"
import { Quota } from "../people/Quota.js"
import { SettingsFrame } from "./SettingsFrame.js"
import { textIn } from "./textIn.js"

/** Who the user is. */
export const Profile = () => {
  const organizations = useOrganizations()
  const { avatar_url = "", created_at, email, id, login_type, name = "", roles, username } = useMe()

  const save = async (form: FormData): Promise<void> => {
    const body = { username: textIn(form, "username"), name: textIn(form, "name"), avatar_url: textIn(form, "avatar_url") }
    await users.updateProfile(client, { user: "me", body })
    await queryClient.invalidateQueries({ queryKey: ["me"] })
    notify(accountText.saved)
  }

  return (
    <SettingsFrame title={accountText.profile}>
      <Section title={profileText.title} description={profileText.description}>
        <Form className="account-form" onSubmit={save}>
          <Field label={profileText.username} name="username" hint={profileText.usernameHint}>
            <Input defaultValue={username} autoComplete="username" spellCheck={false} />
          </Field>
          <Field label={profileText.name} name="name" isOptional>
            <Input defaultValue={name} autoComplete="name" />
          </Field>
          <Field label={profileText.avatar} name="avatar_url" hint={profileText.avatarHint} isOptional>
            <Input defaultValue={avatar_url} inputMode="url" spellCheck={false} />
          </Field>
          <FormActions>
            <Button type="submit" kind="primary">
              {accountText.save}
            </Button>
          </FormActions>
        </Form>
      </Section>
      <Section title={profileText.facts}>
        <PropertyList
          properties={[
            { label: profileText.email, value: email },
            { label: profileText.login, value: loginNames[login_type] ?? login_type },
            { label: profileText.created, value: <Time at={created_at} /> },
            {
              label: profileText.roles,
              value: roles.map(({ display_name, name }) => display_name || name).join(", ") || profileText.noRoles
            },
            ...organizations.map((organization) => ({
              label: organization.display_name || organization.name,
              value: (
                <>
                  {profileText.member} <Quota organization={organization.id} user={id} />
                </>
              )
            }))
          ]}
        />
      </Section>
    </SettingsFrame>
  )
}

import { AtelierError } from "@atelier/client"
import * as logins from "@atelier/client/logins"
import * as oauth2 from "@atelier/client/oauth2Provider"
import { useQuery } from "@tanstack/react-query"
import { Plug } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { leaveToSignIn } from "../../app/sessionEnd.js"
import { useMe } from "../../app/session.js"
import { accountText, loginNames, securityText } from "../../texts/account.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Button } from "../../ui/forms/Button.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { Field, SecretInput } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { List, ListRow } from "../../ui/lists/List.js"
import { Section } from "../../ui/page/Page.js"
import { Empty } from "../../ui/page/States.js"
import { notify } from "../../ui/floating/Toast.js"
import { SettingsFrame } from "./SettingsFrame.js"
import { textIn } from "./textIn.js"

/** The password, and the applications that act for the user. */
export const Security = () => (
  <SettingsFrame title={accountText.security}>
    <PasswordSection />
    <AppsSection />
  </SettingsFrame>
)

const PasswordSection = () => {
  const { login_type } = useMe()
  const [differs, setDiffers] = useState(false)
  const [changes, setChanges] = useState(0)

  const change = async (form: FormData): Promise<void> => {
    const password = textIn(form, "password")
    const isSame = password === textIn(form, "again")
    setDiffers(!isSame)
    if (!isSame) return
    await logins.updatePassword(client, { user: "me", body: { old_password: textIn(form, "old_password"), password } })
    notify(securityText.changed)
    // New fields, which are empty
    setChanges(changes + 1)
    // The session has ended with all others
    leaveToSignIn()
  }

  return (
    <Section title={securityText.password} description={securityText.passwordDescription}>
      {login_type === "password" ? (
        <Form key={changes} className="account-form" onSubmit={change}>
          <Field label={securityText.current} name="old_password">
            <SecretInput autoComplete="current-password" />
          </Field>
          <Field label={securityText.next} name="password">
            <SecretInput autoComplete="new-password" />
          </Field>
          <Field label={securityText.again} name="again" error={differs ? securityText.differs : undefined}>
            <SecretInput autoComplete="new-password" />
          </Field>
          <FormActions>
            <Button type="submit" kind="primary">
              {securityText.change}
            </Button>
          </FormActions>
        </Form>
      ) : (
        <p className="muted">{securityText.elsewhere(loginNames[login_type] ?? login_type)}</p>
      )}
    </Section>
  )
}

/** Ends the tokens of an application. The endpoint belongs to OAuth2, and is none of the interface's operations. */
const disconnect = async (id: string): Promise<void> => {
  const url = `${client.baseUrl}/oauth2/tokens?client_id=${encodeURIComponent(id)}`
  const { ok, status } = await client.fetch(url, { method: "DELETE", headers: await client.headers() })
  if (!ok) throw new AtelierError({ status, message: `The service answered ${status}.` })
  await queryClient.invalidateQueries({ queryKey: ["oauth2-apps"] })
}

const AppsSection = () => {
  const { id } = useMe()
  const [asked, setAsked] = useState<{ readonly id: string; readonly name: string } | undefined>()
  const apps = useQuery({
    queryKey: ["oauth2-apps", "of", id],
    queryFn: ({ signal }) => oauth2.listOAuth2Apps(client, { user_id: id }, { signal })
  })

  return (
    <Section title={securityText.apps} description={securityText.appsDescription} isFlush>
      <List
        query={apps}
        empty={
          <Empty icon={<Plug />} title={securityText.noApps}>
            {securityText.noAppsHint}
          </Empty>
        }
        row={(app) => (
          <ListRow key={app.id} lead={<Avatar name={app.name} src={app.icon} size={32} isThing />} title={app.name}>
            <Button aria-label={securityText.disconnectFrom(app.name)} onClick={() => setAsked(app)}>
              {securityText.disconnect}
            </Button>
          </ListRow>
        )}
      />
      <ConfirmDialog
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={securityText.disconnectTitle(asked?.name ?? "")}
        description={securityText.disconnectHint}
        action={securityText.disconnect}
        isDangerous
        onConfirm={async () => {
          if (asked === undefined) return
          await disconnect(asked.id)
          notify(securityText.disconnected(asked.name))
        }}
      />
    </Section>
  )
}

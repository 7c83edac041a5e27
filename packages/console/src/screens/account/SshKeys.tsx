import type { UserSshKey } from "@atelier/client"
import * as gitSshKeys from "@atelier/client/gitSshKeys"
import * as sshKeys from "@atelier/client/sshKeys"
import { useQuery } from "@tanstack/react-query"
import { KeyRound } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { queryClient } from "../../app/queries.js"
import { accountText, sshText } from "../../texts/account.js"
import { Button } from "../../ui/forms/Button.js"
import { Code } from "../../ui/text/Code.js"
import { ConfirmDialog, Dialog } from "../../ui/floating/Dialog.js"
import { Field, Input, TextArea } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { List, ListRow, Loaded } from "../../ui/lists/List.js"
import { Section } from "../../ui/page/Page.js"
import { Empty } from "../../ui/page/States.js"
import { Time } from "../../ui/page/Time.js"
import { notify } from "../../ui/floating/Toast.js"
import { SettingsFrame } from "./SettingsFrame.js"
import { textIn } from "./textIn.js"

const gitKey = ["git-ssh-key"]
const clientKeys = ["ssh-keys"]

/** The key that workspaces use for git, and the keys of the user's computers. */
export const SshKeys = () => (
  <SettingsFrame title={accountText.sshKeys}>
    <GitKeySection />
    <ClientKeysSection />
  </SettingsFrame>
)

const GitKeySection = () => {
  const [isAsked, setAsked] = useState(false)
  const key = useQuery({
    queryKey: gitKey,
    queryFn: ({ signal }) => gitSshKeys.getGitSshKey(client, { user: "me" }, { signal })
  })

  return (
    <Section
      title={sshText.git}
      description={sshText.gitDescription}
      actions={<Button onClick={() => setAsked(true)}>{sshText.regenerate}</Button>}
    >
      <Loaded query={key}>
        {({ public_key, updated_at }) => (
          <>
            <Code text={public_key.trim()} isWrapped />
            <p className="faint account-note">
              {sshText.created} <Time at={updated_at} />
            </p>
          </>
        )}
      </Loaded>
      <ConfirmDialog
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        title={sshText.regenerateTitle}
        description={sshText.regenerateHint}
        action={sshText.regenerate}
        isDangerous
        onConfirm={async () => {
          const made = await gitSshKeys.regenerateGitSshKey(client, { user: "me" })
          queryClient.setQueryData(gitKey, made)
          notify(sshText.regenerated)
        }}
      />
    </Section>
  )
}

const ClientKeysSection = () => {
  const [isAdding, setAdding] = useState(false)
  const [asked, setAsked] = useState<UserSshKey | undefined>()
  const keys = useQuery({
    queryKey: clientKeys,
    queryFn: ({ signal }) => sshKeys.listSshKeys(client, { user: "me" }, { signal })
  })

  const add = async (form: FormData): Promise<void> => {
    const name = textIn(form, "name")
    const body = { public_key: textIn(form, "public_key"), ...(name === "" ? {} : { name }) }
    await sshKeys.addSshKey(client, { user: "me", body })
    await queryClient.invalidateQueries({ queryKey: clientKeys })
    setAdding(false)
    notify(sshText.added)
  }

  return (
    <Section
      title={sshText.clients}
      description={sshText.clientsDescription}
      actions={<Button onClick={() => setAdding(true)}>{sshText.add}</Button>}
      isFlush
    >
      <List
        query={keys}
        empty={
          <Empty icon={<KeyRound />} title={sshText.empty}>
            {sshText.emptyHint}
          </Empty>
        }
        row={(key) => (
          <ListRow key={key.id} title={key.name} second={<span className="mono">{key.fingerprint}</span>}>
            <span className="faint">
              {sshText.lastUsed} <Time at={key.last_used_at} />
            </span>
            <Button onClick={() => setAsked(key)} aria-label={`${sshText.delete} ${key.name}`}>
              {sshText.delete}
            </Button>
          </ListRow>
        )}
      />
      <Dialog isOpen={isAdding} onClose={() => setAdding(false)} title={sshText.addTitle} size="medium">
        <Form onSubmit={add}>
          <Field label={sshText.publicKey} name="public_key" hint={sshText.publicKeyHint}>
            <TextArea className="mono" spellCheck={false} autoFocus />
          </Field>
          <Field label={sshText.name} name="name" hint={sshText.nameHint} isOptional>
            <Input />
          </Field>
          <FormActions>
            <Button onClick={() => setAdding(false)}>{accountText.cancel}</Button>
            <Button type="submit" kind="primary">
              {sshText.add}
            </Button>
          </FormActions>
        </Form>
      </Dialog>
      <ConfirmDialog
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={sshText.deleteTitle(asked?.name ?? "")}
        description={sshText.deleteHint}
        action={sshText.delete}
        isDangerous
        onConfirm={async () => {
          if (asked === undefined) return
          await sshKeys.deleteSshKey(client, { user: "me", sshkey: asked.id })
          await queryClient.invalidateQueries({ queryKey: clientKeys })
          notify(sshText.deleted)
        }}
      />
    </Section>
  )
}

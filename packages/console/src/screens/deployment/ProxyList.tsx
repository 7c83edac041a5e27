import type { WorkspaceProxy } from "@atelier/client"
import * as proxies from "@atelier/client/workspaceProxies"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { EllipsisVertical, Globe, KeyRound, Plus, Trash2 } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { proxiesText } from "../../texts/deployment.js"
import { organizationsText } from "../../texts/people.js"
import { dialogText } from "../../texts/ui.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Status } from "../../ui/page/Badge.js"
import type { Tone } from "../../ui/page/tone.js"
import { Button, IconButton } from "../../ui/forms/Button.js"
import { ConfirmDialog, Dialog } from "../../ui/floating/Dialog.js"
import { Field, Input } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { Menu, MenuItem } from "../../ui/floating/Menu.js"
import { List, ListRow } from "../../ui/lists/List.js"
import { Section } from "../../ui/page/Page.js"
import { Empty } from "../../ui/page/States.js"
import { notify } from "../../ui/floating/Toast.js"
import { DeploymentFrame } from "./DeploymentFrame.js"
import { Secret } from "../../ui/floating/Secret.js"

const tones: Readonly<Record<keyof typeof proxiesText.statuses, Tone>> = {
  ok: "green",
  unhealthy: "amber",
  unreachable: "red",
  unregistered: "grey",
  unknown: "grey"
}

const queryKey = ["workspace-proxies"]

/** The region that the server itself is. */
const primaryName = "primary"

export const ProxyList = () => {
  const [isCreating, setCreating] = useState(false)
  const [token, setToken] = useState<string | undefined>()
  const may = useMay({
    create: { on: "workspace_proxy", to: "create" },
    update: { on: "workspace_proxy", to: "update" },
    delete: { on: "workspace_proxy", to: "delete" }
  })
  const queryClient = useQueryClient()
  const regions = useQuery({
    queryKey,
    queryFn: ({ signal }) => proxies.listWorkspaceProxies(client, { signal }),
    select: (answer) => answer.regions,
    refetchInterval: 30_000
  })
  const changed = () => queryClient.invalidateQueries({ queryKey })
  const close = (): void => setCreating(false)
  return (
    <DeploymentFrame
      actions={
        may.create ? (
          <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
            {proxiesText.create}
          </Button>
        ) : undefined
      }
    >
      <Section isFlush title={proxiesText.title} description={proxiesText.hint}>
        <List
          query={regions}
          empty={
            <Empty icon={<Globe />} title={proxiesText.none}>
              {proxiesText.noneHint}
            </Empty>
          }
          row={(proxy) => (
            <ListRow
              key={proxy.id}
              lead={<Avatar name={proxy.display_name || proxy.name} src={proxy.icon_url} size={28} isThing />}
              title={proxy.display_name || proxy.name}
              second={
                <>
                  {proxy.path_app_url === "" ? proxy.name : proxy.path_app_url}
                  {proxy.version === "" ? "" : ` · ${proxy.version}`}
                </>
              }
            >
              <Status tone={tones[proxy.status.status]}>{proxiesText.statuses[proxy.status.status]}</Status>
              {proxy.name === primaryName ? null : (
                <ProxyActions proxy={proxy} mayDelete={may.delete} mayUpdate={may.update} onChange={changed} onToken={setToken} />
              )}
            </ListRow>
          )}
        />
      </Section>
      <Dialog isOpen={isCreating} onClose={close} title={proxiesText.createTitle}>
        <Form
          onSubmit={async (form) => {
            const text = (name: string): string => String(form.get(name) ?? "").trim()
            const { proxy_token } = await proxies.createWorkspaceProxy(client, {
              body: { name: text("name"), display_name: text("display_name"), icon: text("icon") }
            })
            await changed()
            close()
            setToken(proxy_token)
          }}
        >
          <Field label={proxiesText.name} name="name" hint={proxiesText.nameHint}>
            <Input autoFocus spellCheck={false} autoCapitalize="off" />
          </Field>
          <Field label={proxiesText.displayName} name="display_name" isOptional>
            <Input />
          </Field>
          <Field label={proxiesText.icon} name="icon" hint={organizationsText.iconHint} isOptional>
            <Input spellCheck={false} />
          </Field>
          <FormActions>
            <Button onClick={close}>{dialogText.cancel}</Button>
            <Button type="submit" kind="primary">
              {proxiesText.create}
            </Button>
          </FormActions>
        </Form>
      </Dialog>
      <Secret
        title={proxiesText.tokenTitle}
        description={proxiesText.tokenOnce}
        done={proxiesText.done}
        secret={token}
        onClose={() => setToken(undefined)}
      />
    </DeploymentFrame>
  )
}

interface ActionsProps {
  readonly proxy: WorkspaceProxy
  readonly mayUpdate: boolean
  readonly mayDelete: boolean
  readonly onChange: () => Promise<unknown>
  readonly onToken: (token: string) => void
}

const ProxyActions = ({ mayDelete, mayUpdate, onChange, onToken, proxy }: ActionsProps) => {
  const [asking, setAsking] = useState<"token" | "delete" | undefined>()
  const { display_name, icon_url, id, name } = proxy
  if (!mayUpdate && !mayDelete) return null
  return (
    <>
      <Menu
        label={proxiesText.actions(name)}
        trigger={<IconButton size="small" label={proxiesText.actions(name)} icon={<EllipsisVertical />} />}
      >
        {mayUpdate ? (
          <MenuItem icon={<KeyRound />} onSelect={() => setAsking("token")}>
            {proxiesText.regenerate}
          </MenuItem>
        ) : null}
        {mayDelete ? (
          <MenuItem isDangerous icon={<Trash2 />} onSelect={() => setAsking("delete")}>
            {proxiesText.delete}
          </MenuItem>
        ) : null}
      </Menu>
      <ConfirmDialog
        isOpen={asking === "token"}
        onClose={() => setAsking(undefined)}
        title={proxiesText.regenerateTitle(name)}
        description={proxiesText.regenerateText}
        action={proxiesText.regenerate}
        isDangerous
        onConfirm={async () => {
          const { proxy_token } = await proxies.updateWorkspaceProxy(client, {
            workspaceproxy: id,
            body: { id, name, display_name, icon: icon_url, regenerate_token: true }
          })
          await onChange()
          onToken(proxy_token)
        }}
      />
      <ConfirmDialog
        isOpen={asking === "delete"}
        onClose={() => setAsking(undefined)}
        title={proxiesText.deleteTitle(name)}
        description={proxiesText.deleteText}
        action={proxiesText.delete}
        isDangerous
        onConfirm={async () => {
          await proxies.deleteWorkspaceProxy(client, { workspaceproxy: id })
          await onChange()
          notify(proxiesText.deleted(name))
        }}
      />
    </>
  )
}

import * as deployment from "@atelier/client/deployment"
import * as licenses from "@atelier/client/licenses"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Trash2 } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { useMay } from "../../app/session.js"
import { licensesText } from "../../texts/deployment.js"
import { dialogText } from "../../texts/ui.js"
import { Badge } from "../../ui/page/Badge.js"
import { Button, IconButton } from "../../ui/forms/Button.js"
import { Callout } from "../../ui/page/Callout.js"
import { ConfirmDialog, Dialog } from "../../ui/floating/Dialog.js"
import { Field, TextArea } from "../../ui/forms/Field.js"
import { Form, FormActions } from "../../ui/forms/Form.js"
import { List, ListRow, Loaded } from "../../ui/lists/List.js"
import { Section } from "../../ui/page/Page.js"
import { spoken } from "../../ui/page/spoken.js"
import { Time } from "../../ui/page/Time.js"
import { notify } from "../../ui/floating/Toast.js"
import { DeploymentFrame } from "./DeploymentFrame.js"

const listKey = ["licenses"]
const entitlementsKey = ["entitlements"]

export const LicenseList = () => {
  const [isAdding, setAdding] = useState(false)
  const [deleting, setDeleting] = useState<number | undefined>()
  const may = useMay({ create: { on: "license", to: "create" }, delete: { on: "license", to: "delete" } })
  const queryClient = useQueryClient()
  const list = useQuery({ queryKey: listKey, queryFn: ({ signal }) => licenses.listLicenses(client, { signal }) })
  const entitlements = useQuery({ queryKey: entitlementsKey, queryFn: ({ signal }) => deployment.entitlements(client, { signal }) })
  const changed = () =>
    Promise.all([queryClient.invalidateQueries({ queryKey: listKey }), queryClient.invalidateQueries({ queryKey: entitlementsKey })])
  const close = (): void => setAdding(false)
  return (
    <DeploymentFrame>
      <Section
        isFlush
        title={licensesText.title}
        description={licensesText.hint}
        actions={may.create ? <Button onClick={() => setAdding(true)}>{licensesText.add}</Button> : undefined}
      >
        <List
          query={list}
          empty={`${licensesText.none}. ${licensesText.noneHint}`}
          row={({ id, uploaded_at, uuid }) => (
            <ListRow
              key={id}
              title={<span className="mono">{uuid}</span>}
              second={
                <>
                  {licensesText.uploaded} <Time at={uploaded_at} />
                </>
              }
            >
              {may.delete ? (
                <IconButton size="small" label={licensesText.delete} icon={<Trash2 />} onClick={() => setDeleting(id)} />
              ) : null}
            </ListRow>
          )}
        />
      </Section>
      {entitlements.data?.errors.map((message) => (
        <Callout key={message} kind="error" title={message} />
      ))}
      {entitlements.data?.warnings.map((message) => (
        <Callout key={message} kind="warning" title={message} />
      ))}
      <Section title={licensesText.features}>
        <Loaded query={entitlements} lines={6}>
          {({ features }) => (
            <div className="feature-grid">
              {Object.entries(features).map(([name, { actual, enabled, limit }]) => (
                <div key={name} className="feature">
                  <span>
                    {spoken(name)}
                    {actual === undefined ? null : <span className="faint"> · {licensesText.use(actual, limit)}</span>}
                  </span>
                  <Badge tone={enabled ? "green" : "grey"}>{enabled ? licensesText.on : licensesText.off}</Badge>
                </div>
              ))}
            </div>
          )}
        </Loaded>
      </Section>
      <Dialog isOpen={isAdding} onClose={close} title={licensesText.add}>
        <Form
          onSubmit={async (form) => {
            await licenses.addLicense(client, { body: { license: String(form.get("license")).trim() } })
            await changed()
            close()
            notify(licensesText.added)
          }}
        >
          <Field label={licensesText.key} name="license">
            <TextArea rows={6} spellCheck={false} autoFocus />
          </Field>
          <FormActions>
            <Button onClick={close}>{dialogText.cancel}</Button>
            <Button type="submit" kind="primary">
              {licensesText.add}
            </Button>
          </FormActions>
        </Form>
      </Dialog>
      <ConfirmDialog
        isOpen={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title={licensesText.deleteTitle}
        description={licensesText.deleteText}
        action={licensesText.delete}
        isDangerous
        onConfirm={async () => {
          if (deleting === undefined) return
          await licenses.deleteLicense(client, { id: String(deleting) })
          await changed()
          notify(licensesText.deleted)
        }}
      />
    </DeploymentFrame>
  )
}

/** The presets of the active version, and the workspaces that wait for users who choose them. */
import type { Preset, Template, Workspace } from "@atelier/client"
import * as prebuilds from "@atelier/client/prebuilds"
import * as templateVersions from "@atelier/client/templateVersions"
import * as workspaces from "@atelier/client/workspaces"
import { useQuery } from "@tanstack/react-query"
import { Layers, RefreshCw } from "lucide-react"
import { useState } from "react"
import { client } from "../../app/client.js"
import { prebuildsText } from "../../texts/templates.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Badge, Status } from "../../ui/page/Badge.js"
import { Button } from "../../ui/forms/Button.js"
import { Callout } from "../../ui/page/Callout.js"
import { ConfirmDialog } from "../../ui/floating/Dialog.js"
import { List, ListRow } from "../../ui/lists/List.js"
import { Section } from "../../ui/page/Page.js"
import { Empty } from "../../ui/page/States.js"
import { notify } from "../../ui/floating/Toast.js"
import { useTemplateQuery, useTemplateRights } from "./queries.js"

/** The user whose workspaces wait. */
const poolOwner = "prebuilds"
const mostCounted = 1_000
const recheck = 10_000

export const Prebuilds = () => {
  const { data: template } = useTemplateQuery()
  return template === undefined ? null : <Presets key={template.id} template={template} />
}

const Presets = ({ template }: { readonly template: Template }) => {
  const { active_version_id, id, name, organization_id } = template
  const may = useTemplateRights(template)
  const [isReplacing, setReplacing] = useState(false)
  const presets = useQuery({
    queryKey: ["template-versions", active_version_id, "presets"],
    queryFn: ({ signal }) => templateVersions.getTemplateVersionPresets(client, { templateversion: active_version_id }, { signal }),
    select: (data) => data ?? []
  })
  const hasPool = presets.data?.some(({ desiredPrebuildInstances }) => desiredPrebuildInstances > 0) === true
  const { data: waiting } = useQuery({
    queryKey: ["workspaces", "waiting", id],
    queryFn: ({ signal }) =>
      workspaces.listWorkspaces(
        client,
        { q: `owner:${poolOwner} template:"${name}" organization:${organization_id}`, limit: mostCounted },
        { signal }
      ),
    enabled: hasPool,
    refetchInterval: recheck
  })
  const { data: settings } = useQuery({
    queryKey: ["prebuilds", "settings"],
    queryFn: ({ signal }) => prebuilds.getPrebuildsSettings(client, { signal }),
    enabled: hasPool
  })
  return (
    <>
      {settings?.reconciliation_paused === true ? <Callout kind="warning" title={prebuildsText.paused} /> : null}
      <Section
        isFlush
        title={prebuildsText.title}
        description={prebuildsText.description}
        actions={
          hasPool && may.update ? (
            <Button icon={<RefreshCw />} onClick={() => setReplacing(true)}>
              {prebuildsText.replace}
            </Button>
          ) : undefined
        }
      >
        <List
          query={presets}
          empty={
            <Empty icon={<Layers />} title={prebuildsText.none}>
              {prebuildsText.noneHint}
            </Empty>
          }
          row={(preset) => <Row key={preset.id} preset={preset} waiting={waiting?.workspaces ?? []} />}
        />
      </Section>
      <ConfirmDialog
        isOpen={isReplacing}
        onClose={() => setReplacing(false)}
        title={prebuildsText.replaceTitle}
        description={prebuildsText.replaceText}
        action={prebuildsText.replace}
        isDangerous
        onConfirm={async () => {
          const { invalidated } = await prebuilds.invalidatePresets(client, { template: id })
          notify(prebuildsText.replaced(invalidated.length))
        }}
      />
    </>
  )
}

const Row = ({ preset, waiting }: { readonly preset: Preset; readonly waiting: ReadonlyArray<Workspace> }) => {
  const { description, desiredPrebuildInstances, icon, id, name, parameters } = preset
  const own = waiting.filter(({ latest_build }) => latest_build.template_version_preset_id === id)
  const isReady = ({ health, latest_build }: Workspace): boolean => latest_build.status === "running" && health.healthy
  const ready = own.filter(isReady).length
  const failed = own.filter(({ latest_build }) => latest_build.status === "failed").length
  const building = own.length - ready - failed
  const values = (parameters ?? []).map(({ name, value }) => `${name}: ${value}`).join(" · ")
  return (
    <ListRow
      lead={<Avatar name={name} src={icon} size={28} isThing />}
      title={
        <span className="tpl-name-line">
          <span className="truncate" title={name}>
            {name}
          </span>
          {preset.default ? <Badge>{prebuildsText.default}</Badge> : null}
        </span>
      }
      second={
        <span title={values}>
          <span>{description}</span>
          {description === "" || values === "" ? null : " — "}
          <span>{values}</span>
        </span>
      }
    >
      <span className="tpl-pool">
        <span className="muted">
          {desiredPrebuildInstances > 0 ? prebuildsText.wanted(desiredPrebuildInstances) : prebuildsText.noPool}
        </span>
        {ready === 0 ? null : <Status tone="green">{prebuildsText.running(ready)}</Status>}
        {building === 0 ? null : (
          <Status tone="blue" isMoving>
            {prebuildsText.building(building)}
          </Status>
        )}
        {failed === 0 ? null : <Status tone="red">{prebuildsText.failed(failed)}</Status>}
      </span>
    </ListRow>
  )
}

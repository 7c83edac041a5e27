/** The version that is built of edited files: its log, its form, its resources, and its publication. */
import type { Template, TemplateVersion } from "@atelier/client"
import * as provisioning from "@atelier/client/provisioning"
import * as templateVersions from "@atelier/client/templateVersions"
import { useMutation, useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { CircleStop, Hammer, Upload } from "lucide-react"
import { Suspense, useDeferredValue, useMemo, useState } from "react"
import { client } from "../../../app/client.js"
import { useKeys } from "../../../app/keys.js"
import { useGrowing } from "../../../app/live.js"
import { lazyPart } from "../../../app/lazy.js"
import { sourceText } from "../../../texts/templates.js"
import { dialogText } from "../../../texts/ui.js"
import { Status } from "../../../ui/page/Badge.js"
import { Button } from "../../../ui/forms/Button.js"
import { Dialog } from "../../../ui/floating/Dialog.js"
import { Checkbox } from "../../../ui/forms/Field.js"
import { Form, FormActions, SubmitButton } from "../../../ui/forms/Form.js"
import { Loaded as LoadedQuery } from "../../../ui/lists/List.js"
import { Empty, SkeletonLines } from "../../../ui/page/States.js"
import { notify, notifyError } from "../../../ui/floating/Toast.js"
import { Outcome } from "../Outcome.js"
import { isMoving, refreshTemplates, versionQuery } from "../queries.js"
import { ResourceList } from "../Resources.js"
import { type Source, writeArchive } from "../source/archive.js"
import { givenValues, VariableFields, variablesQuery } from "../VariableFields.js"
import { NameFields } from "../VersionActions.js"
import { VersionLog } from "../VersionLog.js"
import { importState } from "../versionState.js"
import { type Place, placesIn } from "./places.js"
import type { Built, Files } from "./useDraft.js"

interface Props {
  readonly template: Template
  /** The version that the files were of. */
  readonly version: TemplateVersion
  readonly source: Source
  readonly files: Files
  readonly built: Built | undefined
  readonly onBuilt: (built: Built) => void
  readonly onPlace: (place: Place) => void
  /** Resolves when the browser has stored the changes. */
  readonly keep: () => Promise<void>
  /** Another window has published them. */
  readonly isPublished: boolean
  /** Forgets them: they are a version of this name now. */
  readonly onPublished: (name: string) => Promise<void>
}

const Difference = lazyPart(() => import("../source/Difference.js").then(({ Difference }) => Difference))
const FormPreview = lazyPart(() => import("./FormPreview.js").then(({ FormPreview }) => FormPreview))

type Part = "log" | "form" | "resources" | "changes"
const parts: ReadonlyArray<Part> = ["log", "form", "resources", "changes"]

type Values = ReadonlyArray<{ readonly name: string; readonly value: string }>

type BuildOf = Pick<Props, "template" | "version" | "source" | "files" | "keep"> & { readonly onBuilt: (built: Built) => void }

/** Builds the files, and cancels such a build. */
const useBuild = ({ files, keep, onBuilt, source, template, version }: BuildOf) => {
  const build = useMutation({
    mutationFn: async (given: Values) => {
      // If the session has ended, the way to the login leads away from the page
      await keep()
      const { hash } = await provisioning.uploadFile(client, {
        contentType: "application/x-tar",
        body: writeArchive({ files, others: source.others })
      })
      const { id } = await templateVersions.createTemplateVersion(client, {
        organization: template.organization_id,
        body: {
          template_id: template.id,
          storage_method: "file",
          provisioner: template.provisioner,
          file_id: hash,
          tags: version.job.tags,
          user_variable_values: given
        }
      })
      return { id, files }
    },
    onSuccess: (next) => {
      onBuilt(next)
      void refreshTemplates()
    },
    onError: notifyError
  })
  const cancel = useMutation({
    mutationFn: (id: string) => templateVersions.cancelTemplateVersion(client, { templateversion: id }),
    onSettled: refreshTemplates,
    onError: notifyError
  })
  return { build, cancel }
}

export const BuildPanel = (props: Props) => {
  const { built, files, isPublished, onBuilt, onPlace, onPublished, source, template } = props
  const [part, setPart] = useState<Part>("log")
  const [values, setValues] = useState<Values>([])
  const [asked, setAsked] = useState<"publish" | "values" | undefined>()
  const { data: result } = useQuery({ ...versionQuery(built?.id ?? ""), enabled: built !== undefined })
  const { build, cancel } = useBuild({
    ...props,
    onBuilt: (next) => {
      onBuilt(next)
      setPart("log")
    }
  })
  const isBuilding = build.isPending || (result !== undefined && isMoving(result.job))
  const isCurrent = built !== undefined && built.files === files
  const start = (given: Values): void => {
    if (!isBuilding) build.mutate(given)
  }
  useKeys({
    "mod+s": () => {
      // A dialog is about the version that is built
      if (asked === undefined) start(values)
    }
  })
  // The difference of large files takes longer than a key
  const settled = useDeferredValue(files)
  const after = useMemo(() => ({ files: settled, others: source.others }), [settled, source])
  const isReady = result?.job.status === "succeeded"
  return (
    <section className="te-panel" aria-label={sourceText.panel}>
      <div className="te-panel-head">
        <PartTabs part={part} onPart={setPart} />
        <div className="te-panel-actions">
          {result === undefined ? null : <Status {...importState(result.job)}>{importState(result.job).label}</Status>}
          {built !== undefined && !isCurrent && !isBuilding ? <span className="faint te-stale">{sourceText.stale}</span> : null}
          {built !== undefined && result !== undefined && isMoving(result.job) ? (
            <Button size="small" icon={<CircleStop />} isBusy={cancel.isPending} onClick={() => cancel.mutate(built.id)}>
              {sourceText.cancel}
            </Button>
          ) : null}
          <Button size="small" icon={<Hammer />} isBusy={isBuilding} title={sourceText.buildHint} onClick={() => start(values)}>
            {built === undefined ? sourceText.build : sourceText.rebuild}
          </Button>
          <Button
            size="small"
            kind="primary"
            icon={<Upload />}
            disabled={!isReady || !isCurrent || isPublished}
            onClick={() => setAsked("publish")}
          >
            {sourceText.publish}
          </Button>
        </div>
      </div>
      <div className="te-part" role="tabpanel" id="te-part" aria-labelledby={`te-tab-${part}`} tabIndex={0}>
        <Suspense fallback={<SkeletonLines count={4} />}>
          {part === "changes" ? (
            <Difference before={source} after={after} />
          ) : built === undefined ? (
            <Empty icon={<Hammer />} title={sourceText.notBuilt}>
              {sourceText.notBuiltHint}
            </Empty>
          ) : part === "log" ? (
            <BuildLog
              key={built.id}
              version={built.id}
              result={result}
              files={files}
              onPlace={onPlace}
              onValues={() => setAsked("values")}
            />
          ) : !isReady ? (
            <Empty icon={<Hammer />} title={sourceText.notReady} />
          ) : part === "form" ? (
            <FormPreview key={built.id} version={built.id} />
          ) : (
            <ResourceList version={built.id} />
          )}
        </Suspense>
      </div>
      {built === undefined || result === undefined ? null : (
        <>
          <PublishDialog
            template={template}
            version={result}
            isOpen={asked === "publish" && !isPublished}
            onClose={() => setAsked(undefined)}
            onPublished={onPublished}
          />
          <ValuesDialog
            version={built.id}
            isOpen={asked === "values"}
            onClose={() => setAsked(undefined)}
            onValues={(given) => {
              setValues(given)
              start(given)
            }}
          />
        </>
      )}
    </section>
  )
}

const PartTabs = ({ onPart, part }: { readonly part: Part; readonly onPart: (part: Part) => void }) => (
  <div className="te-parts" role="tablist" aria-label={sourceText.tabs.label}>
    {parts.map((each) => (
      <button
        key={each}
        type="button"
        role="tab"
        id={`te-tab-${each}`}
        aria-selected={part === each}
        aria-controls="te-part"
        className="tab"
        onClick={() => onPart(each)}
      >
        {sourceText.tabs[each]}
      </button>
    ))}
  </div>
)

interface BuildLogProps {
  readonly version: string
  readonly result: TemplateVersion | undefined
  readonly files: Files
  readonly onPlace: (place: Place) => void
  readonly onValues: () => void
}

const maximumRead = 2_000

const BuildLog = ({ files, onPlace, onValues, result, version }: BuildLogProps) => {
  const [lines, add] = useGrowing<string>()
  const hasFailed = result?.job.status === "failed"
  const places = hasFailed ? placesIn([...lines.slice(-maximumRead), result.job.error ?? ""], new Set(files.keys())) : []
  return (
    <div className="te-log">
      {result === undefined ? null : <Outcome version={result} />}
      {result?.job.error_code === "REQUIRED_TEMPLATE_VARIABLES" ? <Button onClick={onValues}>{sourceText.giveValues}</Button> : null}
      {places.length === 0 ? null : (
        <ul className="te-places" aria-label={sourceText.places}>
          {places.map((place) => (
            <li key={`${place.path} ${place.line} ${place.column} ${place.message}`}>
              <button type="button" className="link mono" onClick={() => onPlace(place)}>
                {sourceText.place(place.path, place.line)}
              </button>{" "}
              <span className="muted">{place.message}</span>
            </li>
          ))}
        </ul>
      )}
      <VersionLog version={version} height={260} onLine={({ output }) => add([output])} />
    </div>
  )
}

interface PublishProps {
  readonly template: Template
  readonly version: TemplateVersion
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onPublished: (name: string) => Promise<void>
}

const PublishDialog = ({ isOpen, onClose, onPublished, template, version: { id, message, name } }: PublishProps) => {
  const navigate = useNavigate()
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={sourceText.publishTitle} description={sourceText.publishText}>
      <Form
        onSubmit={async (form) => {
          const given = String(form.get("name") ?? "").trim()
          const changed = await templateVersions.updateTemplateVersion(client, {
            templateversion: id,
            body: { ...(given === name ? {} : { name: given }), message: String(form.get("message") ?? "") }
          })
          if (form.get("promote") === "on") await templateVersions.promoteTemplateVersion(client, { template: template.id, body: { id } })
          await onPublished(changed.name)
          await refreshTemplates()
          notify(sourceText.published(changed.name))
          await navigate({
            to: "/templates/$organization/$template/versions/$version",
            params: { organization: template.organization_name, template: template.name, version: changed.name }
          })
        }}
      >
        <NameFields name={name} message={message} />
        <Checkbox name="promote" label={sourceText.promote} defaultChecked />
        <FormActions>
          <Button onClick={onClose}>{dialogText.cancel}</Button>
          <SubmitButton>{sourceText.publish}</SubmitButton>
        </FormActions>
      </Form>
    </Dialog>
  )
}

interface ValuesProps {
  readonly version: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onValues: (values: Values) => void
}

const ValuesDialog = ({ isOpen, onClose, onValues, version }: ValuesProps) => {
  const variables = useQuery({ ...variablesQuery(version), enabled: isOpen })
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={sourceText.valuesTitle} description={sourceText.valuesText} size="medium">
      <LoadedQuery query={variables}>
        {(all) => (
          <Form
            onSubmit={async (form) => {
              onValues(givenValues(all, form))
              onClose()
            }}
          >
            <VariableFields variables={all} />
            <FormActions>
              <Button onClick={onClose}>{dialogText.cancel}</Button>
              <SubmitButton>{sourceText.build}</SubmitButton>
            </FormActions>
          </Form>
        )}
      </LoadedQuery>
    </Dialog>
  )
}

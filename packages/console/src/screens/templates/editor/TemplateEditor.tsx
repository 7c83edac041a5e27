/** The source of a version, edited in the browser: built, looked at and published as a new version. */
import type { Template, TemplateVersion } from "@atelier/client"
import { useQuery } from "@tanstack/react-query"
import { getRouteApi, useBlocker, useNavigate } from "@tanstack/react-router"
import { FilePen, FileX2, Undo2 } from "lucide-react"
import { useEffect, useEffectEvent, useMemo, useState } from "react"
import { saveFile } from "../../../app/saveFile.js"
import { useMe } from "../../../app/session.js"
import { sourceText, templatesText } from "../../../texts/templates.js"
import { Button, ButtonLink } from "../../../ui/forms/Button.js"
import { byteText } from "../../../ui/page/bytes.js"
import { Callout } from "../../../ui/page/Callout.js"
import { ConfirmDialog } from "../../../ui/floating/Dialog.js"
import { Editor, type Position } from "../../../ui/text/Editor.js"
import { PageHeader } from "../../../ui/page/Page.js"
import { Empty, ErrorState, NoAccess, SkeletonLines } from "../../../ui/page/States.js"
import { Time } from "../../../ui/page/Time.js"
import { templateQuery, useTemplateRights, versionByNameQuery } from "../queries.js"
import { bytesOf, type Source, type SourceFile, textOf } from "../source/archive.js"
import { changesOf } from "../source/difference.js"
import { sourceQuery } from "../source/queries.js"
import { BuildPanel } from "./BuildPanel.js"
import { type Draft, draftName, loadDraft } from "./drafts.js"
import { FileTree } from "./FileTree.js"
import { type Files, useDraft } from "./useDraft.js"
import { useElsewhere } from "./useElsewhere.js"
import "./TemplateEditor.css"

const route = getRouteApi("/templates/$organization/$template/versions/$version/edit")

export const TemplateEditor = () => {
  const { organization, template: name, version: versionName } = route.useParams()
  const me = useMe()
  const { data: template, ...templateState } = useQuery(templateQuery(organization, name))
  const may = useTemplateRights(template)
  const { data: version, ...versionState } = useQuery({
    ...versionByNameQuery(template?.id ?? "", versionName),
    enabled: template !== undefined
  })
  const { data: source, ...sourceState } = useQuery({
    ...sourceQuery(version?.job.file_id ?? ""),
    enabled: version !== undefined && may.update
  })
  const ownDraft = version === undefined ? "" : draftName(me.id, version.id)
  const { data: draft } = useQuery({
    queryKey: ["drafts", ownDraft],
    queryFn: () => loadDraft(ownDraft),
    enabled: version !== undefined,
    // What the browser keeps is read once, when the editor opens
    staleTime: Infinity,
    gcTime: 0,
    structuralSharing: false
  })
  const failed = [templateState, versionState, sourceState].find(({ isLoadingError }) => isLoadingError)
  if (failed !== undefined) return <ErrorState isScreen error={failed.error} onRetry={failed.refetch} />
  if (template !== undefined && !may.isPending && !may.update) return <NoAccess isScreen />
  return (
    <div className="te">
      {template === undefined || version === undefined || source === undefined || draft === undefined ? (
        <>
          <PageHeader title={sourceText.title(versionName)} />
          <SkeletonLines count={10} />
        </>
      ) : (
        <Loaded key={version.id} name={ownDraft} template={template} version={version} source={source} draft={draft} />
      )}
    </div>
  )
}

interface LoadedProps {
  readonly name: string
  readonly template: Template
  readonly version: TemplateVersion
  readonly source: Source
  readonly draft: Draft | null
}

/** The file that tells most of a template. */
const firstFile = (files: Files): string | undefined =>
  ["template.yaml", "main.tf"].find((path) => files.has(path)) ?? [...files.keys()].toSorted().find((path) => !path.includes("/"))

const Loaded = ({ draft, name, source: given, template, version }: LoadedProps) => {
  // As it was when the editor opened
  const [source] = useState(given)
  const { built, end, files, goOn, isKept, isSaving, keep, setBuilt, setFiles } = useDraft({ name, source, draft })
  const { forgetPublished, isElsewhere, published, tellPublished } = useElsewhere(name)
  const isPublished = published !== undefined
  const endHere = useEffectEvent(() => void end())
  useEffect(() => {
    // The draft is gone: what is here does not bring it back
    if (isPublished) endHere()
  }, [isPublished])
  const { file } = route.useSearch()
  const navigate = useNavigate()
  const [goTo, setGoTo] = useState<Position | undefined>()
  const [isDiscarding, setDiscarding] = useState(false)
  const [round, setRound] = useState(0)
  const params = { organization: template.organization_name, template: template.name }
  const selected = file !== undefined && files.has(file) ? file : firstFile(files)
  const changes = useMemo(() => changesOf(source, { files, others: source.others }), [files, source])
  const changesByPath = useMemo(() => new Map(changes.map((change) => [change.path, change])), [changes])
  const select = (path: string | undefined): void => {
    setGoTo(undefined)
    void navigate({
      to: "/templates/$organization/$template/versions/$version/edit",
      params: { ...params, version: version.name },
      search: path === undefined ? {} : { file: path },
      replace: true
    })
  }
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => !isKept && changes.length > 0 && current.pathname !== next.pathname,
    enableBeforeUnload: () => isSaving() || (!isKept && changes.length > 0),
    withResolver: true
  })
  return (
    <>
      <Header template={template} version={version} onDiscard={changes.length === 0 ? undefined : () => setDiscarding(true)} />
      <Notices
        template={template}
        draft={changes.length === 0 ? null : draft}
        isKept={isKept}
        isElsewhere={isElsewhere}
        published={published}
        onGoOn={() => {
          forgetPublished()
          void goOn()
        }}
      />
      <div className="te-body">
        <FileTree files={files} others={source.others} onFiles={setFiles} changes={changesByPath} selected={selected} onSelect={select} />
        <div className="te-file-area">
          <OpenFile
            key={`${selected ?? ""} ${round}`}
            path={selected}
            file={selected === undefined ? undefined : files.get(selected)}
            isEmpty={files.size === 0}
            goTo={goTo}
            onText={(path, text) =>
              setFiles((before) => new Map(before).set(path, { mode: before.get(path)?.mode ?? 0o644, content: bytesOf(text) }))
            }
          />
        </div>
      </div>
      <BuildPanel
        template={template}
        version={version}
        source={source}
        files={files}
        built={built}
        keep={keep}
        isPublished={isPublished}
        onPublished={(name) => {
          tellPublished(name)
          return end()
        }}
        onBuilt={setBuilt}
        onPlace={({ column, line, path }) => {
          select(path)
          setGoTo({ line, column })
        }}
      />
      <ConfirmDialog
        isOpen={isDiscarding}
        onClose={() => setDiscarding(false)}
        title={sourceText.discardTitle}
        description={sourceText.discardText}
        action={sourceText.discard}
        isDangerous
        onConfirm={async () => {
          setFiles(source.files)
          // The editor begins anew with the file as it was
          setRound(round + 1)
        }}
      />
      <ConfirmDialog
        isOpen={blocker.status === "blocked"}
        onClose={() => blocker.reset?.()}
        title={sourceText.leaveTitle}
        description={sourceText.leaveText}
        action={sourceText.leave}
        isDangerous
        onConfirm={async () => blocker.proceed?.()}
      />
    </>
  )
}

interface HeaderProps {
  readonly template: Template
  readonly version: TemplateVersion
  /** Absent where nothing is changed. */
  readonly onDiscard: (() => void) | undefined
}

const Header = ({ onDiscard, template, version: { name } }: HeaderProps) => {
  const params = { organization: template.organization_name, template: template.name }
  const templateName = template.display_name || template.name
  return (
    <PageHeader
      title={sourceText.title(name)}
      tabTitle={`${sourceText.title(name)} · ${templateName}`}
      crumbs={[
        { label: templatesText.title, link: { to: "/templates" } },
        { label: templateName, link: { to: "/templates/$organization/$template", params } },
        { label: name, link: { to: "/templates/$organization/$template/versions/$version", params: { ...params, version: name } } }
      ]}
      actions={
        onDiscard === undefined ? undefined : (
          <Button icon={<Undo2 />} onClick={onDiscard}>
            {sourceText.discard}
          </Button>
        )
      }
    />
  )
}

interface NoticesProps {
  readonly template: Template
  /** What was kept before, if it is still to be seen. */
  readonly draft: Draft | null
  readonly isKept: boolean
  readonly isElsewhere: boolean
  readonly published: string | undefined
  readonly onGoOn: () => void
}

/** What becomes of the changes: where they are kept, and what other windows do with them. */
const Notices = ({ draft, isElsewhere, isKept, onGoOn, published, template }: NoticesProps) => {
  const [isNoticed, setNoticed] = useState(false)
  return (
    <>
      {isKept ? null : <Callout kind="warning" title={sourceText.notKept} />}
      {published === undefined ? null : (
        <Callout
          kind="warning"
          title={sourceText.publishedElsewhere(published)}
          action={
            <>
              <ButtonLink
                size="small"
                to="/templates/$organization/$template/versions/$version"
                params={{ organization: template.organization_name, template: template.name, version: published }}
              >
                {sourceText.openPublished}
              </ButtonLink>
              <Button size="small" onClick={onGoOn}>
                {sourceText.goOn}
              </Button>
            </>
          }
        >
          {sourceText.publishedElsewhereHint}
        </Callout>
      )}
      {isElsewhere && published === undefined ? (
        <Callout kind="warning" title={sourceText.elsewhere}>
          {sourceText.elsewhereHint}
        </Callout>
      ) : null}
      {draft === null || draft.changes.size === 0 || isNoticed ? null : (
        <Callout
          kind="info"
          title={sourceText.restored}
          action={
            <Button size="small" onClick={() => setNoticed(true)}>
              {sourceText.keepThem}
            </Button>
          }
        >
          {sourceText.restoredAt} <Time at={draft.at} />.
        </Callout>
      )}
    </>
  )
}

interface OpenFileProps {
  readonly path: string | undefined
  readonly file: SourceFile | undefined
  readonly isEmpty: boolean
  readonly goTo: Position | undefined
  readonly onText: (path: string, text: string) => void
}

const OpenFile = ({ file, goTo, isEmpty, onText, path }: OpenFileProps) => {
  const text = useMemo(() => (file === undefined ? undefined : textOf(file.content)), [file])
  if (path === undefined || file === undefined) return <Empty icon={<FilePen />} title={isEmpty ? sourceText.noFiles : sourceText.noFile} />
  if (text === undefined)
    return (
      <Empty
        icon={<FileX2 />}
        title={sourceText.binary}
        action={<Button onClick={() => saveFile(path.split("/").at(-1) ?? path, [new Uint8Array(file.content)])}>{sourceText.save}</Button>}
      >
        {sourceText.binaryHint(byteText(file.content.length))}
      </Empty>
    )
  return <Editor label={path} path={path} value={text} goTo={goTo} onChange={(next) => onText(path, next)} />
}

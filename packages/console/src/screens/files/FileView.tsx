/** One file: its text to edit, its picture, or what it is. */
import { AtelierError, type FileEntry, type WorkspaceAgent } from "@atelier/client"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useBlocker, useNavigate } from "@tanstack/react-router"
import { Download, FileQuestion, Image, Save, X } from "lucide-react"
import { type ReactNode, useState } from "react"
import { asAtelierError, statusOf } from "../../app/client.js"
import { useKeys } from "../../app/keys.js"
import { filesText } from "../../texts/files.js"
import { Badge } from "../../ui/Badge.js"
import { Button, ButtonAnchor, IconButton } from "../../ui/Button.js"
import { Callout } from "../../ui/Callout.js"
import { Dialog } from "../../ui/Dialog.js"
import { Editor } from "../../ui/Editor.js"
import { FormActions } from "../../ui/Form.js"
import { Section } from "../../ui/Page.js"
import { Empty, SkeletonLines } from "../../ui/States.js"
import { notify, notifyError } from "../../ui/Toast.js"
import { AgentError } from "./Agents.js"
import { downloadOf } from "./downloads.js"
import { bytesOf, byteText, contentOf, folderOf, pictureType } from "./paths.js"
import { readVersion, tooLarge, writeVersion } from "./transfer.js"

interface Props {
  readonly agent: WorkspaceAgent
  readonly entry: FileEntry
  readonly crumbs: ReactNode
}

/** Bytes of a file that is shown; others are downloaded. */
const maximumShown = 2_000_000

/** The address of a picture, which the page's policy lets in. */
const dataAddress = (bytes: Uint8Array, type: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener("load", () => resolve(String(reader.result)))
    reader.addEventListener("error", () => reject(new Error(filesText.binary)))
    reader.readAsDataURL(new Blob([new Uint8Array(bytes)], { type }))
  })

const load = async (agent: string, { name, path }: FileEntry, signal: AbortSignal) => {
  const { bytes, etag } = await readVersion(maximumShown, { agent, path }, signal)
  const type = pictureType(name)
  if (type !== undefined) return { kind: "picture", address: await dataAddress(bytes, type), etag } as const
  return { ...contentOf(bytes), etag }
}

export const FileView = ({ agent, crumbs, entry }: Props) => {
  const isLarge = entry.size > maximumShown
  // A pipe would be read for ever
  const isSpecial = entry.type === "other"
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: ["files", agent.id, "content", entry.path],
    queryFn: ({ signal }) => load(agent.id, entry, signal),
    enabled: !isLarge && !isSpecial,
    // What is edited stays: a save finds out whether the file has changed meanwhile
    staleTime: Infinity,
    gcTime: 0
  })
  const download = (
    <ButtonAnchor icon={<Download />} {...downloadOf(agent.id, { ...entry, type: "file" })}>
      {filesText.download}
    </ButtonAnchor>
  )
  if (data?.kind === "text") {
    return <TextView key={data.etag} agent={agent.id} entry={entry} crumbs={crumbs} content={data} onReload={refetch} download={download} />
  }
  return (
    <Section title={crumbs} actions={<Tools entry={entry}>{isSpecial ? null : download}</Tools>}>
      {isSpecial ? (
        <Empty icon={<FileQuestion />} title={filesText.special} />
      ) : isLarge || statusOf(error) === tooLarge ? (
        <Empty icon={<FileQuestion />} title={filesText.large}>
          {filesText.largeHint(byteText(maximumShown))}
        </Empty>
      ) : isLoadingError ? (
        <AgentError error={error} onRetry={refetch} />
      ) : data === undefined ? (
        <SkeletonLines count={8} />
      ) : data.kind === "picture" ? (
        <Picture address={data.address} name={entry.name} />
      ) : (
        <Empty icon={<FileQuestion />} title={filesText.binary}>
          {filesText.binaryHint}
        </Empty>
      )}
    </Section>
  )
}

/** What can be done with a file, and the way back to its folder. */
const Tools = ({ children, entry }: { readonly entry: FileEntry; readonly children: ReactNode }) => {
  const navigate = useNavigate({ from: "/@{$owner}/$workspace/files" })
  const folder = folderOf(entry.path)
  return (
    <div className="files-tools">
      {children}
      <IconButton
        label={filesText.close}
        icon={<X />}
        onClick={() =>
          void navigate({
            search: ({ agent }) => ({ ...(agent === undefined ? {} : { agent }), ...(folder === undefined ? {} : { path: folder }) })
          })
        }
      />
    </div>
  )
}

const Picture = ({ address, name }: { readonly address: string; readonly name: string }) => {
  const [isBroken, setBroken] = useState(false)
  return isBroken ? (
    <Empty icon={<Image />} title={filesText.binary}>
      {filesText.binaryHint}
    </Empty>
  ) : (
    <div className="files-picture">
      <img src={address} alt={name} onError={() => setBroken(true)} />
    </div>
  )
}

interface TextProps extends Omit<Props, "agent"> {
  readonly agent: string
  readonly content: { readonly text: string; readonly lineEnd: "\n" | "\r\n"; readonly isMixed: boolean; readonly etag: string }
  readonly onReload: () => Promise<unknown>
  readonly download: ReactNode
}

const TextView = ({ agent, content, crumbs, download, entry, onReload }: TextProps) => {
  const queryClient = useQueryClient()
  const [saved, setSaved] = useState({ text: content.text, etag: content.etag })
  const [text, setText] = useState(content.text)
  const [isBusy, setBusy] = useState(false)
  const [conflict, setConflict] = useState<AtelierError>()
  const isChanged = text !== saved.text
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      isChanged && (current.pathname !== next.pathname || JSON.stringify(current.search) !== JSON.stringify(next.search)),
    enableBeforeUnload: isChanged,
    withResolver: true
  })
  const save = async (isForced = false): Promise<void> => {
    if (isBusy || (!isChanged && !isForced)) return
    setBusy(true)
    setConflict(undefined)
    try {
      const { etag } = await writeVersion(
        { agent, path: entry.path },
        bytesOf(text, content.lineEnd),
        isForced ? undefined : { etag: saved.etag }
      )
      setSaved({ text, etag })
      notify(filesText.saved)
      await queryClient.invalidateQueries({ queryKey: ["files", agent, "list"] })
    } catch (error) {
      if (statusOf(error) === 412 || statusOf(error) === 404) setConflict(asAtelierError(error))
      else notifyError(error)
    } finally {
      setBusy(false)
    }
  }
  useKeys({ "mod+s": () => void save() })
  return (
    <Section
      isFlush
      title={crumbs}
      actions={
        <Tools entry={entry}>
          {content.isMixed ? <Badge>{filesText.readOnly}</Badge> : isChanged ? <Badge tone="amber">{filesText.unsaved}</Badge> : null}
          {download}
          {content.isMixed ? null : (
            <Button kind="primary" icon={<Save />} isBusy={isBusy} disabled={!isChanged} onClick={() => void save()}>
              {filesText.save}
            </Button>
          )}
        </Tools>
      }
    >
      {content.isMixed ? <Callout title={filesText.mixedEnds} /> : null}
      {conflict === undefined ? null : (
        <Callout
          kind="warning"
          title={conflict.status === 404 ? filesText.gone : filesText.conflict}
          action={
            <div className="files-tools">
              {conflict.status === 404 ? null : (
                <Button size="small" onClick={() => void onReload()}>
                  {filesText.reload}
                </Button>
              )}
              <Button size="small" onClick={() => void save(true)}>
                {filesText.overwrite}
              </Button>
            </div>
          }
        >
          {filesText.conflictHint}
        </Callout>
      )}
      <Editor
        label={entry.path}
        path={entry.name}
        value={text}
        isReadOnly={content.isMixed}
        onChange={setText}
        onSave={() => void save()}
        height="min(68vh, 800px)"
      />
      <Dialog
        isOpen={blocker.status === "blocked"}
        onClose={() => blocker.reset?.()}
        title={filesText.leaveTitle}
        description={filesText.leaveHint}
      >
        <FormActions>
          <Button onClick={() => blocker.reset?.()}>{filesText.stay}</Button>
          <Button kind="danger" onClick={() => blocker.proceed?.()}>
            {filesText.leave}
          </Button>
        </FormActions>
      </Dialog>
    </Section>
  )
}

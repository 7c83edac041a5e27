/** One file: its text to edit, its picture, or what it is. */
import { AtelierError, type FileEntry, type WorkspaceAgent } from "@atelier/client"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { Download, FileQuestion, Image, Save, X } from "lucide-react"
import { type ReactNode, useState } from "react"
import { asAtelierError, statusOf } from "../../app/client.js"
import { useKeys } from "../../app/keys.js"
import { filesText } from "../../texts/files.js"
import { Badge } from "../../ui/page/Badge.js"
import { Button, ButtonAnchor, IconButton } from "../../ui/forms/Button.js"
import { byteText } from "../../ui/page/bytes.js"
import { Callout } from "../../ui/page/Callout.js"
import { Editor } from "../../ui/text/Editor.js"
import { Section } from "../../ui/page/Page.js"
import { Empty, SkeletonLines } from "../../ui/page/States.js"
import { notify, notifyError } from "../../ui/floating/Toast.js"
import { AgentError } from "./Agents.js"
import { downloadOf } from "./downloads.js"
import { LeaveGuard } from "./LeaveGuard.js"
import { bytesOf, contentOf, folderOf, pictureType } from "./paths.js"
import { readVersion, tooLarge, writeVersion } from "./transfer.js"

interface Props {
  readonly agent: WorkspaceAgent
  readonly entry: FileEntry
  readonly crumbs: ReactNode
  /** Nothing can be saved while the agent is away. */
  readonly isConnected: boolean
}

interface TextContent {
  readonly text: string
  readonly lineEnd: "\n" | "\r\n"
  readonly isMixed: boolean
  readonly etag: string
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

export const FileView = ({ agent, crumbs, entry, isConnected }: Props) => {
  const isLarge = entry.size > maximumShown
  // A pipe would be read for ever
  const isSpecial = entry.type === "other"
  const { data, error, isLoadingError, refetch } = useQuery({
    queryKey: ["files", agent.id, "content", entry.path],
    queryFn: ({ signal }) => load(agent.id, entry, signal),
    enabled: isConnected && !isLarge && !isSpecial,
    staleTime: Infinity,
    gcTime: 0
  })
  const download = (
    <ButtonAnchor icon={<Download />} {...downloadOf(agent.id, { ...entry, type: "file" })}>
      <span className="files-wide">{filesText.download}</span>
    </ButtonAnchor>
  )
  // What is edited stays, whatever is read again: a save finds out whether the file has changed meanwhile
  const [opened, setOpened] = useState<TextContent>()
  const [round, setRound] = useState(0)
  if (opened === undefined && data?.kind === "text") setOpened(data)
  const reload = async (): Promise<void> => {
    const { error, isSuccess } = await refetch()
    if (!isSuccess) return notifyError(error)
    setOpened(undefined)
    setRound((before) => before + 1)
  }
  if (opened !== undefined) {
    return (
      <TextView
        key={round}
        agent={agent.id}
        entry={entry}
        crumbs={crumbs}
        isConnected={isConnected}
        content={opened}
        onReload={reload}
        download={download}
      />
    )
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
  readonly content: TextContent
  readonly onReload: () => Promise<unknown>
  readonly download: ReactNode
}

const TextView = ({ agent, content, crumbs, download, entry, isConnected, onReload }: TextProps) => {
  const queryClient = useQueryClient()
  const [saved, setSaved] = useState({ text: content.text, etag: content.etag })
  const [text, setText] = useState(content.text)
  const [isBusy, setBusy] = useState(false)
  const [conflict, setConflict] = useState<AtelierError>()
  const isChanged = text !== saved.text
  const save = async (isForced = false): Promise<void> => {
    if (isBusy || !isConnected || (!isChanged && !isForced)) return
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
            <Button kind="primary" icon={<Save />} isBusy={isBusy} disabled={!isChanged || !isConnected} onClick={() => void save()}>
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
                <Button size="small" disabled={!isConnected} onClick={() => void onReload()}>
                  {filesText.reload}
                </Button>
              )}
              <Button size="small" isBusy={isBusy} disabled={!isConnected} onClick={() => void save(true)}>
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
      <LeaveGuard
        isNeeded={isChanged}
        isLeft={(current, next) => current.pathname !== next.pathname || JSON.stringify(current.search) !== JSON.stringify(next.search)}
        title={filesText.leaveTitle}
        hint={filesText.leaveHint}
      />
    </Section>
  )
}

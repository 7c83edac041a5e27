/** The files of a source: opened, made, renamed, deleted and uploaded. */
import { ChevronDown, ChevronRight, EllipsisVertical, File, FilePlus2, PencilLine, Trash2, Upload } from "lucide-react"
import { useEffect, useRef, useState } from "react"
import { sourceText } from "../../../texts/templates.js"
import { dialogText } from "../../../texts/ui.js"
import { Button, IconButton } from "../../../ui/forms/Button.js"
import { Dialog } from "../../../ui/floating/Dialog.js"
import { Field, Input } from "../../../ui/forms/Field.js"
import { Form, FormActions } from "../../../ui/forms/Form.js"
import { Menu, MenuItem } from "../../../ui/floating/Menu.js"
import { notify, notifyError } from "../../../ui/floating/Toast.js"
import { type Entry, pathProblem, plainPath } from "../source/archive.js"
import type { FileChange } from "../source/difference.js"
import { treeRows } from "./tree.js"
import type { Files } from "./useDraft.js"

/** Larger files cannot be unpacked, in bytes. */
const maximumFile = 10 * 1024 * 1024

interface Props {
  readonly files: Files
  /** What is in the source beside the files. */
  readonly others: ReadonlyArray<Entry>
  readonly onFiles: (change: (files: Files) => Files) => void
  readonly changes: ReadonlyMap<string, FileChange>
  readonly selected: string | undefined
  readonly onSelect: (path: string | undefined) => void
}

const without = (files: Files, path: string): Files => new Map([...files].filter(([each]) => each !== path))

type Changing = Pick<Props, "files" | "others" | "onFiles" | "selected" | "onSelect">

/** Adds and removes files. */
const useChanges = ({ files, onFiles, onSelect, others, selected }: Changing) => {
  // Files may be typed into while an uploaded one is read
  const newest = useRef(files)
  useEffect(() => {
    newest.current = files
  }, [files])

  const add = async (given: ReadonlyArray<globalThis.File>): Promise<void> => {
    for (const file of given) {
      const path = plainPath(file.name)
      if (file.size > maximumFile) {
        notifyError(new Error(sourceText.tooLarge(file.name)))
        continue
      }
      try {
        const content = new Uint8Array(await file.arrayBuffer())
        const problem = pathProblem(path, newest.current, others)
        if (problem !== undefined && problem !== "taken") {
          notifyError(new Error(sourceText.notAdded(file.name, sourceText.problems[problem])))
          continue
        }
        const replaced = newest.current.get(path)
        onFiles((before) => new Map(before).set(path, { content, mode: before.get(path)?.mode ?? 0o644 }))
        onSelect(path)
        if (replaced !== undefined)
          notify(sourceText.replaced(path), {
            label: sourceText.undo,
            run: () => onFiles((before) => (before.get(path)?.content === content ? new Map(before).set(path, replaced) : before))
          })
      } catch (error) {
        // A folder was dropped, or the file is gone
        notifyError(error)
      }
    }
  }

  const remove = (path: string): void => {
    const file = files.get(path)
    if (file === undefined) return
    onFiles((before) => without(before, path))
    if (selected === path) onSelect(undefined)
    notify(sourceText.deleted(path), {
      label: sourceText.undo,
      run: () => onFiles((before) => (before.has(path) ? before : new Map(before).set(path, file)))
    })
  }

  return { add, remove }
}

export const FileTree = (props: Props) => {
  const { changes, files, onFiles, onSelect, others, selected } = props
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [asked, setAsked] = useState<{ readonly rename?: string } | undefined>()
  const [isOver, setOver] = useState(false)
  const { add, remove } = useChanges(props)
  const from = asked?.rename
  return (
    <nav
      className={`te-tree ${isOver ? "te-tree-over" : ""}`}
      aria-label={sourceText.files}
      title={isOver ? sourceText.drop : undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        void add([...event.dataTransfer.files])
      }}
    >
      <TreeHead onNew={() => setAsked({})} onFiles={add} />
      <ul className="te-rows">
        {treeRows(files.keys(), closed).map(({ depth, isFolder, name, path }) => (
          <li key={`${isFolder ? "folder" : "file"} ${path}`} className="te-row" data-selected={path === selected || undefined}>
            {isFolder ? (
              <FolderRow
                depth={depth}
                name={name}
                path={path}
                isOpen={!closed.has(path)}
                onToggle={() =>
                  setClosed(closed.has(path) ? new Set([...closed].filter((each) => each !== path)) : new Set([...closed, path]))
                }
              />
            ) : (
              <FileRow
                depth={depth}
                name={name}
                path={path}
                change={changes.get(path)?.kind}
                isSelected={path === selected}
                onSelect={() => onSelect(path)}
                onRename={() => setAsked({ rename: path })}
                onRemove={() => remove(path)}
              />
            )}
          </li>
        ))}
      </ul>
      <Dialog
        isOpen={asked !== undefined}
        onClose={() => setAsked(undefined)}
        title={from === undefined ? sourceText.newFile : sourceText.renameTitle(from)}
      >
        <PathForm
          files={files}
          others={others}
          from={from}
          onClose={() => setAsked(undefined)}
          onPath={(path) => {
            onFiles((before) => {
              const file = from === undefined ? undefined : before.get(from)
              return new Map(from === undefined ? before : without(before, from)).set(
                path,
                file ?? { content: new Uint8Array(), mode: 0o644 }
              )
            })
            onSelect(path)
            setAsked(undefined)
          }}
        />
      </Dialog>
    </nav>
  )
}

interface HeadProps {
  readonly onNew: () => void
  readonly onFiles: (files: ReadonlyArray<globalThis.File>) => Promise<void>
}

const TreeHead = ({ onFiles, onNew }: HeadProps) => {
  const input = useRef<HTMLInputElement>(null)
  return (
    <div className="te-tree-head">
      <span className="te-tree-title">{sourceText.files}</span>
      <IconButton size="small" label={sourceText.newFile} icon={<FilePlus2 />} onClick={onNew} />
      <IconButton size="small" label={sourceText.upload} icon={<Upload />} onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={sourceText.upload}
        onChange={(event) => {
          void onFiles([...(event.target.files ?? [])])
          event.target.value = ""
        }}
      />
    </div>
  )
}

interface RowProps {
  /** Folders above it. */
  readonly depth: number
  readonly name: string
  readonly path: string
}

const indentOf = (depth: number) => ({ paddingLeft: 8 + depth * 14 })

const FolderRow = ({ depth, isOpen, name, onToggle, path }: RowProps & { readonly isOpen: boolean; readonly onToggle: () => void }) => (
  <button type="button" className="te-file" style={indentOf(depth)} aria-expanded={isOpen} onClick={onToggle}>
    {isOpen ? <ChevronDown aria-hidden /> : <ChevronRight aria-hidden />}
    <span className="truncate" title={path}>
      {name}
    </span>
  </button>
)

interface FileRowProps extends RowProps {
  readonly change: FileChange["kind"] | undefined
  readonly isSelected: boolean
  readonly onSelect: () => void
  readonly onRename: () => void
  readonly onRemove: () => void
}

const FileRow = ({ change, depth, isSelected, name, onRemove, onRename, onSelect, path }: FileRowProps) => (
  <>
    <button type="button" className="te-file" style={indentOf(depth)} aria-current={isSelected || undefined} onClick={onSelect}>
      <File aria-hidden />
      <span className="truncate" title={path}>
        {name}
      </span>
      {change === undefined ? null : (
        <span className={`te-mark te-mark-${change}`}>{change === "added" ? sourceText.added : sourceText.changed}</span>
      )}
    </button>
    <Menu
      label={sourceText.actionsOf(path)}
      trigger={<IconButton className="te-more" size="small" label={sourceText.actionsOf(path)} icon={<EllipsisVertical />} />}
    >
      <MenuItem icon={<PencilLine />} onSelect={onRename}>
        {sourceText.rename}
      </MenuItem>
      <MenuItem icon={<Trash2 />} isDangerous onSelect={onRemove}>
        {sourceText.delete}
      </MenuItem>
    </Menu>
  </>
)

interface PathProps {
  readonly files: Files
  readonly others: ReadonlyArray<Entry>
  readonly from: string | undefined
  readonly onClose: () => void
  readonly onPath: (path: string) => void
}

const PathForm = ({ files, from, onClose, onPath, others }: PathProps) => {
  const [typed, setTyped] = useState(from ?? "")
  const [isTouched, setTouched] = useState(false)
  const problem = pathProblem(typed, from === undefined ? files : without(files, from), others)
  return (
    <Form
      onSubmit={async () => {
        setTouched(true)
        if (problem === undefined) onPath(plainPath(typed))
      }}
    >
      <Field
        label={sourceText.path}
        hint={sourceText.pathHint}
        error={problem !== undefined && (isTouched || problem !== "empty") ? sourceText.problems[problem] : undefined}
      >
        <Input value={typed} spellCheck={false} autoCapitalize="off" autoFocus onChange={(event) => setTyped(event.target.value)} />
      </Field>
      <FormActions>
        <Button onClick={onClose}>{dialogText.cancel}</Button>
        <Button type="submit" kind="primary">
          {from === undefined ? sourceText.create : sourceText.rename}
        </Button>
      </FormActions>
    </Form>
  )
}

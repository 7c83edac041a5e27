/** The columns of a folder. */
import type { FileEntry } from "@atelier/client"
import { Link } from "@tanstack/react-router"
import { Download, EllipsisVertical, File as FileIcon, Folder, FolderSymlink, Pencil, Trash2 } from "lucide-react"
import { filesText } from "../../texts/files.js"
import { IconButton } from "../../ui/forms/Button.js"
import { Menu, MenuItem, MenuSeparator } from "../../ui/floating/Menu.js"
import { byNumber, byText, byTime } from "../../ui/lists/sorted.js"
import type { Column } from "../../ui/lists/Table.js"
import { byteText } from "../../ui/page/bytes.js"
import { Time } from "../../ui/page/Time.js"
import { downloadOf } from "./downloads.js"

interface Actions {
  readonly agent: string
  readonly onRename: (entry: FileEntry) => void
  readonly onRemove: (entry: FileEntry) => void
}

export const fileColumns = ({ agent, onRemove, onRename }: Actions): ReadonlyArray<Column<FileEntry>> => [
  {
    id: "name",
    header: filesText.name,
    compare: byText(({ name }) => name),
    width: "minmax(80px, 1fr)",
    cell: (entry) => (
      <span className="files-name">
        {entry.type === "directory" ? <Folder className="files-folder" /> : entry.type === "symlink" ? <FolderSymlink /> : <FileIcon />}
        <Link
          className="truncate"
          from="/@{$owner}/$workspace/files"
          search={(before) => ({ ...before, path: entry.path })}
          title={entry.name}
        >
          {entry.name}
        </Link>
        {entry.target === undefined ? null : <span className="faint truncate">{filesText.linkTo(entry.target)}</span>}
      </span>
    )
  },
  {
    id: "size",
    header: filesText.size,
    compare: byNumber(({ size }) => size),
    width: "88px",
    from: 400,
    align: "end",
    cell: ({ size, type }) => <span className="muted">{type === "file" ? byteText(size) : ""}</span>
  },
  {
    id: "modified",
    header: filesText.modified,
    compare: byTime(({ modified_at }) => modified_at),
    width: "128px",
    from: 560,
    cell: ({ modified_at }) => <Time at={modified_at} />
  },
  {
    id: "actions",
    header: <span className="visually-hidden">{filesText.columnActions}</span>,
    width: "40px",
    align: "end",
    cell: (entry) => (
      <Menu
        label={filesText.actions(entry.name)}
        trigger={<IconButton size="small" label={filesText.actions(entry.name)} icon={<EllipsisVertical />} />}
      >
        <MenuItem asChild>
          <a {...downloadOf(agent, entry)}>
            <Download /> {entry.type === "directory" ? filesText.downloadFolder : filesText.download}
          </a>
        </MenuItem>
        <MenuItem icon={<Pencil />} onSelect={() => onRename(entry)}>
          {filesText.rename}
        </MenuItem>
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} isDangerous onSelect={() => onRemove(entry)}>
          {filesText.remove}
        </MenuItem>
      </Menu>
    )
  }
]

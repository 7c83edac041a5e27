/** Users and groups with the role that each has in one thing. */
import { X } from "lucide-react"
import { type ReactNode, useState } from "react"
import { accessText } from "../../texts/ui.js"
import { Avatar } from "../page/Avatar.js"
import { Button, IconButton } from "../forms/Button.js"
import { Combobox, type ComboboxChoice } from "../forms/Combobox.js"
import { type Choice, Select } from "../forms/Field.js"
import "./AccessList.css"

/** A user or a group. */
export interface Subject {
  readonly kind: "user" | "group"
  readonly id: string
}

/** One user or group with the role that it has. */
export interface Grant extends Subject {
  readonly name: string
  readonly picture: string | undefined
  readonly role: string
}

/** Someone who may be given a role. */
export interface Candidate extends Subject {
  readonly name: string
  readonly hint?: string | undefined
  readonly picture: string | undefined
}

interface Props {
  readonly grants: ReadonlyArray<Grant>
  readonly roles: ReadonlyArray<Choice>
  /** Sets the role of a subject. */
  readonly onSet: (subject: Subject, role: string) => void
  readonly onRemove: (subject: Subject) => void
  readonly isBusy: boolean
  /** The list is only shown. */
  readonly isReadOnly?: boolean
  /** Whom what the user has typed finds. */
  readonly candidates: ReadonlyArray<Candidate>
  readonly onSearch: (typed: string) => void
  /** Said in the place of no rows. */
  readonly empty: ReactNode
}

export const AccessList = ({ candidates, empty, grants, isBusy, isReadOnly = false, onRemove, onSearch, onSet, roles }: Props) => {
  const taken = new Set(grants.map(({ id, kind }) => `${kind} ${id}`))
  return (
    <>
      {isReadOnly ? null : (
        <Add
          candidates={candidates.filter(({ id, kind }) => !taken.has(`${kind} ${id}`))}
          roles={roles}
          isBusy={isBusy}
          onAdd={onSet}
          onSearch={onSearch}
        />
      )}
      {grants.length === 0 ? (
        empty
      ) : (
        <ul className="grants">
          {grants.map(({ id, kind, name, picture, role }) => (
            <li key={`${kind} ${id}`} className="grant">
              <Avatar name={name} src={picture} size={24} isThing={kind === "group"} />
              <span className="truncate grant-name" title={name}>
                {name} {kind === "group" ? <span className="faint">{accessText.group}</span> : null}
              </span>
              {isReadOnly ? (
                <span className="muted">{roles.find(({ value }) => value === role)?.label ?? role}</span>
              ) : (
                <>
                  <Select
                    aria-label={name}
                    choices={roles}
                    value={role}
                    disabled={isBusy}
                    onChange={(event) => onSet({ kind, id }, event.target.value)}
                  />
                  <IconButton
                    size="small"
                    label={accessText.remove(name)}
                    icon={<X />}
                    disabled={isBusy}
                    onClick={() => onRemove({ kind, id })}
                  />
                </>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

interface AddProps extends Pick<Props, "candidates" | "roles" | "isBusy" | "onSearch"> {
  readonly onAdd: (subject: Subject, role: string) => void
}

const Add = ({ candidates, isBusy, onAdd, onSearch, roles }: AddProps) => {
  const [chosen, setChosen] = useState<Candidate | undefined>()
  const [role, setRole] = useState(roles[0]?.value ?? "")
  const valueOf = ({ id, kind }: Subject): string => `${kind} ${id}`
  const shown = chosen === undefined || candidates.some((each) => valueOf(each) === valueOf(chosen)) ? candidates : [chosen, ...candidates]
  return (
    <div className="grant-add">
      <div className="grant-who">
        <Combobox
          label={accessText.who}
          placeholder={accessText.who}
          value={chosen === undefined ? undefined : valueOf(chosen)}
          onChange={(value) => setChosen(shown.find((each) => valueOf(each) === value))}
          onSearch={onSearch}
          choices={shown.map(({ hint, kind, name, picture, ...subject }): ComboboxChoice => ({
            value: valueOf({ kind, ...subject }),
            label: name,
            hint: kind === "group" ? accessText.group : hint,
            icon: <Avatar name={name} src={picture} size={18} isThing={kind === "group"} />
          }))}
        />
      </div>
      <Select aria-label={accessText.role} choices={roles} value={role} onChange={(event) => setRole(event.target.value)} />
      <Button
        isBusy={isBusy}
        disabled={chosen === undefined}
        onClick={() => {
          if (chosen === undefined) return
          onAdd(chosen, role)
          setChosen(undefined)
        }}
      >
        {accessText.add}
      </Button>
    </div>
  )
}

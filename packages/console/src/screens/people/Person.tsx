/** A user in a list: picture, name, and what tells namesakes apart. */
import { Link } from "@tanstack/react-router"
import { usersText } from "../../texts/people.js"
import { Avatar } from "../../ui/page/Avatar.js"
import { Badge, Status } from "../../ui/page/Badge.js"
import type { Tone } from "../../ui/page/tone.js"
import "./people.css"

interface Props {
  readonly user: {
    readonly username: string
    readonly name?: string
    readonly email: string
    readonly avatar_url?: string
  }
  /** The name leads to the user's screen. */
  readonly isLink?: boolean
}

export const Person = ({ isLink = false, user: { avatar_url, email, name = "", username } }: Props) => (
  <span className="people-name">
    <Avatar name={name || username} src={avatar_url} size={26} />
    <span className="people-names">
      {isLink ? (
        <Link className="truncate" to="/deployment/users/$user" params={{ user: username }}>
          {name || username}
        </Link>
      ) : (
        <span className="truncate">{name || username}</span>
      )}
      <span className="people-second truncate">{name === "" ? email : `${username} · ${email}`}</span>
    </span>
  </span>
)

const tones: Readonly<Record<string, Tone>> = { active: "green", dormant: "grey", suspended: "red" }

export const UserState = ({ status }: { readonly status: "active" | "dormant" | "suspended" }) => (
  <span title={status === "dormant" ? usersText.dormantHint : undefined}>
    <Status tone={tones[status] ?? "grey"}>{usersText.statuses[status]}</Status>
  </span>
)

interface RoleBadgesProps {
  readonly roles: ReadonlyArray<{ readonly name: string; readonly display_name: string }>
}

export const RoleBadges = ({ roles }: RoleBadgesProps) => (
  <span className="people-badges">
    {roles.map(({ display_name, name }) => (
      <Badge key={name} tone={name === "owner" ? "accent" : "grey"}>
        {display_name || name}
      </Badge>
    ))}
  </span>
)

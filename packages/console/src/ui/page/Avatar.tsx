import { useState } from "react"
import { iconOf } from "../../app/config.js"
import "./Avatar.css"

interface Props {
  readonly name: string
  readonly src?: string | undefined
  readonly size?: number
  /** People are round, things have corners. */
  readonly isThing?: boolean
}

const hueOf = (name: string): number => [...name].reduce((hash, letter) => (hash * 31 + (letter.codePointAt(0) ?? 0)) % 360, 7)

/** A picture, or the first letter of the name. */
export const Avatar = ({ isThing = false, name, size = 24, src }: Props) => {
  const [failed, setFailed] = useState<string | undefined>()
  const icon = src === failed ? undefined : iconOf(src)
  const address = icon !== undefined && "address" in icon ? icon.address : undefined
  const signs = icon !== undefined && "signs" in icon ? icon.signs : ([...name][0]?.toUpperCase() ?? "?")
  return (
    <span
      className={`avatar ${isThing ? "avatar-thing" : ""} ${icon !== undefined ? "avatar-picture" : ""}`}
      style={{ width: size, height: size, fontSize: Math.round(size * 0.46), ["--hue" as string]: hueOf(name) }}
      aria-hidden
    >
      {address === undefined ? (
        signs
      ) : (
        <img src={address} alt="" width={size} height={size} loading="lazy" onError={() => setFailed(src)} />
      )}
    </span>
  )
}

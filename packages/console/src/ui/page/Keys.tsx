import { modKey } from "../../app/keys.js"
import "./Keys.css"

const named = (key: string): string => (key === "mod" ? modKey : key)

/** Keys for those who hear them, such as `Ctrl+k`. */
export const keysInWords = (keys: string): string => keys.split("+").map(named).join("+")

/** Keys as caps: `mod+k`, or `g w` for one after the other. */
export const Keys = ({ keys }: { readonly keys: string }) => (
  <span className="keys" aria-hidden>
    {keys.split(/[ +]/).map((key) => (
      <kbd key={key}>{key.length === 1 ? key.toUpperCase() : named(key)}</kbd>
    ))}
  </span>
)

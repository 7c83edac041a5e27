import { modKey } from "../../app/keys.js"
import "./Keys.css"

/** Keys as caps: `mod+k`, or `g w` for one after the other. */
export const Keys = ({ keys }: { readonly keys: string }) => (
  <span className="keys" aria-hidden>
    {keys.split(/[ +]/).map((key) => (
      <kbd key={key}>{key === "mod" ? modKey : key.length === 1 ? key.toUpperCase() : key}</kbd>
    ))}
  </span>
)

/** Addresses of Terraform: `module.a["k"].coder_agent.main[0]`. terraform.md §1 no. 1. */

/** The parts of an instance's address that place it among the other instances. */
export interface Place {
  /** The address without instance keys, which is the label of its node in graphs. */
  readonly label: string
  /** The address of the module that it is in; empty for the root. */
  readonly module: string
  /** The instance keys of its modules and its own, in order; each as in the address, without the brackets. */
  readonly keys: ReadonlyArray<string>
}

/** An instance key: a number, or a quoted text in which quotes are escaped. */
const instanceKey = /\[("(?:[^"\\]|\\.)*"|\d+)\]/g

export const labelOf = (address: string): string => address.replace(instanceKey, "")

/** Where an instance with this address is, given its own part of the address: `coder_agent.main` or `data.coder_parameter.size`. */
export const placeOf = (address: string): Place => {
  const keys = Array.from(address.matchAll(instanceKey), ([, key = ""]) => key)
  const module = /^(?:module\.[^.[]+(?:\[(?:"(?:[^"\\]|\\.)*"|\d+)\])?\.)+/.exec(address)
  return { label: labelOf(address), module: module === null ? "" : module[0].slice(0, -1), keys }
}

/** Values with their places in a template, such as what is wrong there. */
import { formatPath, type Path } from "./YamlSource.js"

export interface Placed<A> {
  readonly path: Path
  readonly value: A
}

/** How a finding begins: with its place, unless that is the whole template. */
export const within = (path: Path): string => (path.length === 0 ? "" : `${formatPath(path)}: `)

/** The containers of a workspace, as the engines of containers make them: one for each agent. docs/templates.md, `container`. */

/** Where the image of a container comes from. */
export type ContainerImage =
  | { readonly _tag: "Image"; readonly reference: string }
  | {
      readonly _tag: "Build"
      /** A folder of the template's source; empty for all of it. */
      readonly context: string
      /** Relative to the context. */
      readonly dockerfile: string
      readonly arguments: Readonly<Record<string, string>>
      /** The stage that the build ends with; the last one when absent. */
      readonly target?: string
    }

export interface VolumeSpec {
  /** Unique in the container; {@link homeVolume} for the home directory. Containers and sidecars of one agent share a volume of one name. */
  readonly name: string
  /** Absolute. Undefined for a home directory at its place in the image. */
  readonly path: string | undefined
  /** Whether the content outlives a stop of the workspace. */
  readonly keep: boolean
}

/** The volume of the home directory. */
export const homeVolume = "home"

/** A container beside that of the agent, in the same network namespace: the agent reaches its ports at localhost. */
export interface SidecarSpec {
  /** Unique beside its agent. */
  readonly name: string
  readonly image: string
  readonly env: Readonly<Record<string, string>>
  /** The image's own when empty. */
  readonly command: ReadonlyArray<string>
  readonly ports: ReadonlyArray<number>
  readonly volumes: ReadonlyArray<VolumeSpec & { readonly path: string }>
  readonly cpus?: number
  /** Bytes. */
  readonly memory?: number
  readonly user?: string
}

export interface ContainerSpec {
  /** The agent's name. */
  readonly agent: string
  readonly image: ContainerImage
  /** Cores; fractions are allowed. */
  readonly cpus?: number
  /** Bytes. */
  readonly memory?: number
  /** Bytes of the home volume. */
  readonly disk?: number
  readonly gpus?: number
  /** A name or number, or `user:group`; the image's own when absent. */
  readonly user?: string
  /** What the container's environment has beside the image's. The agent adds its own variables to those of its programs. */
  readonly env: Readonly<Record<string, string>>
  /** A program that starts the agent, and its first arguments; the agent's command follows them. Empty for none. */
  readonly entrypoint: ReadonlyArray<string>
  /** Contains the home directory unless the template does not keep it. */
  readonly volumes: ReadonlyArray<VolumeSpec>
  /** `none` leaves nothing but the way to the service. */
  readonly network: "default" | "none"
  readonly privileged: boolean
  /** What runs the container in place of the daemon's default, such as `runsc`. */
  readonly runtime?: string
  readonly sidecars: ReadonlyArray<SidecarSpec>
}

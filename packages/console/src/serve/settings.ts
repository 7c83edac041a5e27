/** A place to go to that the host adds to the navigation. */
export interface ConsoleLink {
  readonly label: string
  /** A path of the host, or an address elsewhere, which opens in a tab of its own. */
  readonly address: string
  /** A path of the host or a `data:` address of a picture; empty for none. */
  readonly icon: string
}

/** The colour of what can be pressed, on light and on dark ground. */
export interface ConsoleAccent {
  readonly light: string
  readonly dark: string
}

/** What the server tells the application, in the page that starts it. */
export interface ConsoleSettings {
  /** Where the console is: a path that begins and ends with a slash. */
  readonly base: string
  /** What comes before `/api/v2`; empty at the root of a host. */
  readonly api: string
  /** The token that calls by cookie carry in `X-CSRF-TOKEN`. */
  readonly csrf: string
  readonly brand: {
    /** The name of the deployment, for people. */
    readonly name: string
    /** The word in the names of headers and cookies. */
    readonly wire: string
    /** The address of the deployment's logo; empty for none. */
    readonly logo: string
    /** Null for the console's own colours. */
    readonly accent: ConsoleAccent | null
  }
  /** Where the documentation is; empty for none. */
  readonly documentation: string
  /** Where a user signs in; null where the host does that by itself. */
  readonly login: string | null
  /** Where a user signs out; null where the host does that by itself. */
  readonly logout: string | null
  readonly version: string
  readonly navigation: ReadonlyArray<ConsoleLink>
}

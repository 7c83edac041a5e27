/** Texts of the ports of a workspace, and of the editors that open it. */
export const portsText = {
  title: "Ports",
  listening: "Listening now",
  none: "No program listens on a port yet.",
  noOther: "No program listens on another port than those of the apps.",
  open: (port: number) => `Open port ${port}`,
  openPort: "Open",
  number: "Port",
  noHost: "This deployment has no hosts for ports: forward them with the command below.",
  sharedTitle: "Shared",
  noneShared: "No port is shared: only you can open them.",
  notAllowed: "The template does not let ports be shared. Its settings say how far they may be.",
  share: "Share",
  shareNumber: "Port to share",
  sharePort: (port: number) => `Share port ${port}`,
  shared: (port: number, level: string) => `Port ${port} is shared: ${level}`,
  unshare: (port: number) => `Stop sharing port ${port}`,
  unshared: (port: number) => `Port ${port} is no longer shared`,
  level: "Who may open it",
  levelOf: (port: number) => `Who may open port ${port}`,
  protocolOf: (port: number) => `What port ${port} speaks`,
  levels: { owner: "only its owner", organization: "the organization", authenticated: "everyone signed in", public: "everyone" },
  forward: "Forward to your machine"
}

export const editorsText = {
  title: "Open in an editor",
  short: "Editor",
  hint: "On your machine. The editor needs its extension for SSH, and the hosts that this makes once:"
}

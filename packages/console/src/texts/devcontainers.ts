/** Texts of the devcontainers of an agent. */
export const devcontainersText = {
  title: "Devcontainers",
  states: { running: "Running", stopped: "Stopped", starting: "Starting", stopping: "Stopping", deleting: "Deleting", error: "Failed" },
  dirty: "configuration changed",
  start: "Start",
  recreate: "Recreate",
  begun: (name: string) => `${name} is being made anew`,
  remove: (name: string) => `Delete ${name}`,
  removeTitle: (name: string) => `Delete the container of ${name}?`,
  removeHint: "The container is stopped and removed. Its folder stays.",
  removeAction: "Delete container",
  removed: (name: string) => `The container of ${name} was deleted`
}

/** Lets the program go on after the reader of its output has ended. A write would end the process otherwise. */
export const outliveReaders = (): void => {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined)
}

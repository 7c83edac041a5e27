/** What commands print that end afterwards. */

/** Prints all of a command's output, and returns the exit code. A reader that goes away, such as `head`, wants no more of it. */
export const printed = (text: string): Promise<number> =>
  new Promise((resolve) => {
    // Without a listener the stream would end the process, before the function below is told
    process.stdout.on("error", () => undefined)
    process.stdout.write(text, (error) => {
      const isLost = error instanceof Error && !("code" in error && error.code === "EPIPE")
      if (isLost) process.stderr.write(`The output is lost: ${error.message}\n`)
      resolve(isLost ? 1 : 0)
    })
  })

/** Has the browser save what the page made, as a file. */
export const saveFile = (name: string, parts: ReadonlyArray<BlobPart>, type = "application/octet-stream"): void => {
  const address = URL.createObjectURL(new Blob([...parts], { type }))
  const link = document.createElement("a")
  link.href = address
  link.download = name
  link.click()
  // The browser reads the address after the click
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

/** The text of a form's field; empty without it. */
export const textIn = (form: FormData, name: string): string => {
  const value = form.get(name)
  return typeof value === "string" ? value : ""
}

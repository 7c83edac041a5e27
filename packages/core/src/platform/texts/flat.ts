/**
 * Returns a text that was put together from parts, for keeping. V8 keeps the parts of such a text, which take several times its memory, until one of its characters is
 * read.
 */
export const flat = <A extends string>(text: A): A => {
  void text.charCodeAt(0)
  return text
}

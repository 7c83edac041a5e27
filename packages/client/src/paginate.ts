/** Lists that come in pages, read as one. */

/** An answer with a page: a list, or an object with one list and the number of all matches. */
export type Page = ReadonlyArray<unknown> | { readonly count: number }

/** The type of a page's items. */
export type ItemOf<Answer> =
  Answer extends ReadonlyArray<infer Item>
    ? Item
    : { [Name in keyof Answer]: Answer[Name] extends ReadonlyArray<infer Item> ? Item : never }[keyof Answer]

/** Which page is asked for: the parameters of every list that has pages. */
export interface PageInput {
  readonly limit: number
  readonly offset: number
}

const isPage = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

const itemsOf = (answer: Page): ReadonlyArray<unknown> => {
  if (isPage(answer)) return answer
  const fields: ReadonlyArray<unknown> = Object.values(answer)
  return fields.find(isPage) ?? []
}

/**
 * Yields the items of a list page after page: `paginate((page) => users.listUsers(client, { ...page, q: "status:active" }))`. A page is asked for
 * when the one before it is read. An item that is added or removed between two pages shifts the later ones, so the loop may see an item twice or miss one.
 */
export async function* paginate<Answer extends Page>(
  list: (page: PageInput) => Promise<Answer>,
  { pageSize = 100 }: { readonly pageSize?: number } = {}
): AsyncGenerator<ItemOf<Answer>, void, undefined> {
  for (let offset = 0; ;) {
    const answer = await list({ limit: pageSize, offset })
    const items = itemsOf(answer)
    offset += items.length
    // The list in the answer
    yield* items as ReadonlyArray<ItemOf<Answer>>
    if (items.length === 0 || ("count" in answer && offset >= answer.count)) return
  }
}

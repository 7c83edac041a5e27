import { expect, it } from "vitest"
import { pictureType } from "../src/screens/files/paths.js"
import { languageOf } from "../src/ui/text/languages.js"

it("takes names of an object's own members for names of files", () => {
  for (const name of ["constructor", "x.constructor", "__proto__", "a.__proto__", "toString"]) {
    expect([languageOf(name), pictureType(name)]).toStrictEqual([undefined, undefined])
  }
  expect(languageOf("folder/main.tf")).toBeTypeOf("function")
  expect(pictureType("a.PNG")).toBe("image/png")
})

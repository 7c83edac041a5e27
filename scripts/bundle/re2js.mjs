// Stands for the library of the same name in the bundled server, which loads it with its first pattern.
export const RE2JS = { compile: (source) => require("re2js").RE2JS.compile(source) }

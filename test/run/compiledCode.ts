const preload = `
  import vm from "node:vm"
  import { syncBuiltinESMExports } from "node:module"
  const { Script } = vm
  vm.Script = class extends Script {
    constructor(...given) {
      super(...given)
      process.stderr.write("rejected: " + this.cachedDataRejected + "\\n")
    }
  }
  syncBuiltinESMExports()
`

/** An option of Node that has a program write to its standard error whether V8 rejects the compiled code that the build kept. */
export const tellsRejection = `--import=data:text/javascript,${encodeURIComponent(preload)}`

/** Profiles of this process by V8's own profilers, in the format of pprof. agents-and-apps.md §20. */
import { type ProfileKind, Profiler, type TakenProfile } from "@atelier/core/insights"
import { existing } from "@atelier/core/platform"
import { type Duration, Effect } from "effect"
import { type HeapProfiler, type Profiler as CpuProfiler, type Runtime, Session } from "node:inspector"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { Function as PprofFunction, Line, Location, Profile as Pprof, Sample, StringTable, ValueType } from "pprof-format"
import { pack } from "tar-stream"

const compressed = promisify(gzip)

/** Bytes of allocations between two samples of the heap: V8's own default is 32 KiB, which slows a busy process down. */
const heapInterval = 256 * 1024

/** Microseconds between two samples of the processor's time. */
const cpuInterval = 1_000

/** Collects the frames of call trees, each once. */
const makeTable = () => {
  const strings = new StringTable()
  const functions = new Map<string, PprofFunction>()
  const locations = new Map<string, Location>()
  return {
    strings,
    type: (type: string, unit: string) => new ValueType({ type: strings.dedup(type), unit: strings.dedup(unit) }),
    /** The id of a frame. */
    frame: ({ columnNumber, functionName, lineNumber, url }: Runtime.CallFrame): number => {
      const name = functionName || "(anonymous)"
      const place = `${name}\n${url}`
      const known = functions.get(place)
      const called =
        known ??
        new PprofFunction({
          id: functions.size + 1,
          name: strings.dedup(name),
          systemName: strings.dedup(name),
          filename: strings.dedup(url)
        })
      if (known === undefined) functions.set(place, called)
      const key = `${place}\n${lineNumber}:${columnNumber}`
      const found = locations.get(key)
      if (found !== undefined) return Number(found.id)
      const made = new Location({ id: locations.size + 1, line: [new Line({ functionId: called.id, line: lineNumber + 1 })] })
      locations.set(key, made)
      return Number(made.id)
    },
    functions: () => [...functions.values()],
    locations: () => [...locations.values()]
  }
}

const cpuProfile = ({ endTime, nodes, samples = [], startTime, timeDeltas = [] }: CpuProfiler.Profile): Uint8Array => {
  const table = makeTable()
  const parents = new Map(nodes.flatMap(({ children = [], id }) => children.map((child) => [child, id] as const)))
  const frames = new Map(nodes.map(({ callFrame, id }) => [id, table.frame(callFrame)]))
  const stackOf = (node: number | undefined): Array<number> =>
    node === undefined || !parents.has(node) ? [] : [frames.get(node) ?? 0, ...stackOf(parents.get(node))]
  const spent = new Map<number, { count: number; micros: number }>()
  for (const [index, node] of samples.entries()) {
    const { count, micros } = spent.get(node) ?? { count: 0, micros: 0 }
    spent.set(node, { count: count + 1, micros: micros + Math.max(0, timeDeltas[index] ?? 0) })
  }
  return new Pprof({
    sampleType: [table.type("samples", "count"), table.type("cpu", "nanoseconds")],
    sample: [...spent].map(([node, { count, micros }]) => new Sample({ locationId: stackOf(node), value: [count, micros * 1000] })),
    location: table.locations(),
    function: table.functions(),
    periodType: table.type("cpu", "nanoseconds"),
    period: cpuInterval * 1000,
    timeNanos: BigInt(Date.now()) * 1_000_000n,
    durationNanos: BigInt(Math.max(0, Math.round(endTime - startTime))) * 1000n,
    stringTable: table.strings
  }).encode()
}

const heapProfile = ({ head }: HeapProfiler.SamplingHeapProfile): Uint8Array => {
  const table = makeTable()
  const samples: Array<Sample> = []
  const pending = head.children.map((node) => ({ node, above: [] as ReadonlyArray<number> }))
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const stack = [table.frame(next.node.callFrame), ...next.above]
    if (next.node.selfSize > 0) {
      samples.push(
        new Sample({ locationId: stack, value: [Math.max(1, Math.round(next.node.selfSize / heapInterval)), next.node.selfSize] })
      )
    }
    for (const node of next.node.children) pending.push({ node, above: stack })
  }
  return new Pprof({
    sampleType: [table.type("objects", "count"), table.type("space", "bytes")],
    sample: samples,
    location: table.locations(),
    function: table.functions(),
    periodType: table.type("space", "bytes"),
    period: heapInterval,
    timeNanos: BigInt(Date.now()) * 1_000_000n,
    stringTable: table.strings
  }).encode()
}

/** A connection to V8's profilers. */
const session = Effect.acquireRelease(
  Effect.sync(() => {
    const opened = new Session()
    opened.connect()
    return opened
  }),
  (opened) => Effect.sync(() => opened.disconnect())
)

/** Sends a command, whose answer comes at once. */
const asked = <A>(send: (done: (error: Error | null, answer: A) => void) => void): Effect.Effect<A> =>
  Effect.async((resume) => send((error, answer) => resume(error === null ? Effect.succeed(answer) : Effect.die(error))))

/** Leaving the scope switches a profiler off that an interrupted request has left on. */
const takers: Readonly<Record<ProfileKind, (inspector: Session, duration: Duration.Duration) => Effect.Effect<Uint8Array>>> = {
  cpu: (inspector, duration) =>
    Effect.gen(function* () {
      yield* asked<void>((done) => inspector.post("Profiler.enable", (error) => done(error)))
      yield* asked<void>((done) => inspector.post("Profiler.setSamplingInterval", { interval: cpuInterval }, (error) => done(error)))
      yield* asked<void>((done) => inspector.post("Profiler.start", (error) => done(error)))
      yield* Effect.sleep(duration)
      const { profile } = yield* asked<CpuProfiler.StopReturnType>((done) => inspector.post("Profiler.stop", done))
      return cpuProfile(profile)
    }),
  heap: (inspector, duration) =>
    Effect.gen(function* () {
      yield* asked<void>((done) => inspector.post("HeapProfiler.startSampling", { samplingInterval: heapInterval }, (error) => done(error)))
      yield* Effect.sleep(duration)
      const { profile } = yield* asked<HeapProfiler.StopSamplingReturnType>((done) => inspector.post("HeapProfiler.stopSampling", done))
      return heapProfile(profile)
    })
}

const packed = (profiles: ReadonlyArray<TakenProfile>): Effect.Effect<Uint8Array> =>
  Effect.promise(async () => {
    const archive = pack()
    for (const { content, kind } of profiles) archive.entry({ name: `${kind}.pprof`, mode: 0o644 }, Buffer.from(content))
    archive.finalize()
    const parts: Array<Buffer> = []
    for await (const part of archive) if (part instanceof Buffer) parts.push(part)
    return compressed(Buffer.concat(parts))
  })

export const layer = existing(Profiler, {
  take: (kinds, duration) =>
    Effect.scoped(
      Effect.flatMap(session, (inspector) =>
        Effect.forEach(
          kinds,
          (kind): Effect.Effect<TakenProfile> =>
            takers[kind](inspector, duration).pipe(
              Effect.flatMap((plain) => Effect.promise(() => compressed(plain))),
              Effect.map((content) => ({ kind, content }))
            ),
          { concurrency: "unbounded" }
        )
      )
    ),
  pack: packed,
  variables: Effect.sync(() => ({
    memory: process.memoryUsage(),
    resources: process.resourceUsage(),
    uptime_seconds: process.uptime(),
    node: process.version
  }))
})

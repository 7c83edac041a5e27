import { Audit } from "@atelier/core/audit"
import { running, StoreClock, together } from "@atelier/core/platform"
import { Context, DefaultServices, Effect, FiberRef, FiberRefs, Layer, Logger, LogLevel, Tracer } from "effect"
import type { Options } from "../Options.js"

const logLevels = { debug: LogLevel.Debug, info: LogLevel.Info, warning: LogLevel.Warning, error: LogLevel.Error, none: LogLevel.None }

/** The environment of all fibers: the log, the clock and the tracer. */
export const environment = ({ clock, logAudit = false, logger, logLevel = "info", tracing }: Options) =>
  together(
    Logger.minimumLogLevel(logLevels[logLevel]),
    running(Effect.locallyScoped(Audit.inLog, logAudit)),
    logger === undefined ? together() : Logger.replace(Logger.defaultLogger, logger),
    running(StoreClock.inForce(clock)),
    typeof tracing === "object" ? Layer.setTracer(tracing) : Layer.setTracerEnabled(tracing === true)
  )

/**
 * Builds a layer whose log and tracer are for its own fibers alone. The fiber that builds it goes on as the application, which keeps its own. The clock is
 * for both: what an application stores has to mean the same instant to other processes.
 */
export const apart = <A, E, R>(self: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const before = yield* Effect.getFiberRefs
      const tracer = yield* Effect.tracer
      const built = yield* Layer.buildWithMemoMap(self, yield* Layer.CurrentMemoMap, yield* Effect.scope)
      const restore = <Value>(ref: FiberRef.FiberRef<Value>) => FiberRef.set(ref, FiberRefs.getOrDefault(before, ref))
      yield* restore(FiberRef.currentMinimumLogLevel)
      yield* restore(FiberRef.currentLoggers)
      yield* restore(FiberRef.currentTracerEnabled)
      yield* FiberRef.update(DefaultServices.currentServices, Context.add(Tracer.Tracer, tracer))
      return built
    })
  )

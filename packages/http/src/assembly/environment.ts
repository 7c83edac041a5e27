import { Audit } from "@atelier/core/audit"
import { StoreClock } from "@atelier/core/platform"
import { Clock, Effect, Layer, Logger, LogLevel } from "effect"
import type { Options } from "../Options.js"

const logLevels = { debug: LogLevel.Debug, info: LogLevel.Info, warning: LogLevel.Warning, error: LogLevel.Error, none: LogLevel.None }

/** The environment of all fibers: the log, the clock and the tracer. */
export const environment = ({ clock, logAudit = false, logger, logLevel = "info", tracing }: Options) =>
  Layer.mergeAll(
    Logger.minimumLogLevel(logLevels[logLevel]),
    Layer.scopedDiscard(Effect.locallyScoped(Audit.inLog, logAudit)),
    logger === undefined ? Layer.empty : Logger.replace(Logger.defaultLogger, logger),
    Layer.setClock(StoreClock.make(clock ?? Clock.make(), { isOfHost: clock !== undefined })),
    typeof tracing === "object" ? Layer.setTracer(tracing) : Layer.setTracerEnabled(tracing === true)
  )

import { Audit } from "@atelier/core/audit"
import { running, StoreClock, together } from "@atelier/core/platform"
import { Clock, Effect, Layer, Logger, LogLevel } from "effect"
import type { Options } from "../Options.js"

const logLevels = { debug: LogLevel.Debug, info: LogLevel.Info, warning: LogLevel.Warning, error: LogLevel.Error, none: LogLevel.None }

/** The environment of all fibers: the log, the clock and the tracer. */
export const environment = ({ clock, logAudit = false, logger, logLevel = "info", tracing }: Options) =>
  together(
    Logger.minimumLogLevel(logLevels[logLevel]),
    running(Effect.locallyScoped(Audit.inLog, logAudit)),
    logger === undefined ? together() : Logger.replace(Logger.defaultLogger, logger),
    Layer.setClock(StoreClock.make(clock ?? Clock.make(), { isOfHost: clock !== undefined })),
    typeof tracing === "object" ? Layer.setTracer(tracing) : Layer.setTracerEnabled(tracing === true)
  )

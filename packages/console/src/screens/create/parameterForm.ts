/** The form that a template's parameters make, which the server evaluates again at each change. */
import type { DynamicParametersResponse, PreviewParameter, Socket } from "@atelier/client"
import * as templateVersions from "@atelier/client/templateVersions"
import { useEffect, useEffectEvent, useRef, useState } from "react"
import { asAtelierError, client, statusOf } from "../../app/client.js"
import { signInAnew } from "../../app/sessionEnd.js"

const typingPause = 150
const firstPause = 500
const maximumPause = 15_000

export type Values = Readonly<Record<string, string>>

interface Options {
  readonly version: string | undefined
  /** The user whose workspace it will be. */
  readonly owner: string | undefined
  /** Values that are given before the user types. */
  readonly initial: Values
}

/** Whether the server would refuse these values. */
const hasErrors = ({ diagnostics, parameters }: DynamicParametersResponse): boolean =>
  [...diagnostics, ...parameters.flatMap((parameter) => parameter.diagnostics)].some(({ severity }) => severity === "error")

export const valueOf = (parameter: PreviewParameter, values: Values): string =>
  values[parameter.name] ??
  (parameter.value.valid ? parameter.value.value : parameter.default_value.valid ? parameter.default_value.value : "")

export type ParameterForm = ReturnType<typeof useParameterForm>

/** Follows a template version's form over a WebSocket. A lost connection is made again, with the values that were typed. */
export const useParameterForm = ({ initial, owner, version }: Options) => {
  const [values, setValues] = useState<Values>(initial)
  const [response, setResponse] = useState<DynamicParametersResponse | undefined>()
  const [error, setError] = useState<Error | undefined>()
  const [isLost, setLost] = useState(false)
  const [isChecking, setChecking] = useState(false)
  const [attempt, setAttempt] = useState(0)
  const socket = useRef<Socket | undefined>(undefined)
  const sent = useRef(0)

  const send = useEffectEvent(() => {
    if (socket.current === undefined) return
    sent.current += 1
    setChecking(true)
    socket.current.send(JSON.stringify({ id: sent.current, inputs: values, ...(owner === undefined ? {} : { owner_id: owner }) }))
  })

  useEffect(() => {
    if (version === undefined) return undefined
    const controller = new AbortController()
    let pause = firstPause
    const follow = async (): Promise<void> => {
      while (!controller.signal.aborted) {
        let opened: Socket | undefined
        try {
          opened = await templateVersions.openDynamicParameters(
            client,
            { templateversion: version, ...(owner === undefined ? {} : { user_id: owner }) },
            { signal: controller.signal }
          )
          socket.current = opened
          sent.current = 0
          setLost(false)
          setError(undefined)
          send()
          for await (const message of opened) {
            if (controller.signal.aborted) return
            if (typeof message !== "string") continue
            const next: DynamicParametersResponse = JSON.parse(message)
            pause = firstPause
            // An answer to what was typed before is out of date
            if (next.id < sent.current) continue
            setChecking(false)
            setResponse({ ...next, diagnostics: next.diagnostics ?? [], parameters: next.parameters ?? [] })
          }
        } catch (failure) {
          if (controller.signal.aborted) return
          const status = statusOf(failure) ?? 0
          if (status === 401) {
            setLost(true)
            if (await signInAnew(controller.signal)) continue
          } else if (status >= 400 && status < 500 && status !== 429) {
            setError(asAtelierError(failure))
            return
          }
        } finally {
          opened?.close()
          // The form of another version may have opened its own since
          if (socket.current === opened) socket.current = undefined
        }
        if (controller.signal.aborted) return
        setLost(true)
        const wait = pause
        pause = Math.min(maximumPause, pause * 2)
        await new Promise((resolve) => setTimeout(resolve, wait))
      }
    }
    void follow()
    return () => {
      controller.abort(new Error("The form was left."))
      socket.current?.close()
    }
  }, [version, owner, attempt])

  useEffect(() => {
    const timer = setTimeout(() => send(), typingPause)
    return () => clearTimeout(timer)
  }, [values])

  const parameters = [...(response?.parameters ?? [])].toSorted((one, other) => one.order - other.order)
  return {
    parameters,
    diagnostics: response?.diagnostics ?? [],
    values,
    set: (name: string, value: string) => setValues((before) => ({ ...before, [name]: value })),
    setAll: (next: Values) => setValues((before) => ({ ...before, ...next })),
    isPending: response === undefined && error === undefined,
    isChecking,
    isLost,
    error,
    retry: () => setAttempt(attempt + 1),
    isValid: response !== undefined && !hasErrors(response),
    /** What a build is sent. */
    build: () => parameters.map((parameter) => ({ name: parameter.name, value: valueOf(parameter, values) }))
  }
}

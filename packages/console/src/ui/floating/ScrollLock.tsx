/** Stands in for `react-remove-scroll`, which Radix's dialogs and menus ask for: the page behind them does not scroll. Writes no style element. */
import { type ComponentProps, type ElementType, type Ref, useEffect } from "react"

let locks = 0

const useLock = (enabled: boolean): void => {
  useEffect(() => {
    if (!enabled) return undefined
    locks += 1
    document.documentElement.dataset["locked"] = ""
    return () => {
      locks -= 1
      if (locks === 0) delete document.documentElement.dataset["locked"]
    }
  }, [enabled])
}

interface Props extends ComponentProps<"div"> {
  readonly as?: ElementType
  readonly enabled?: boolean
  readonly allowPinchZoom?: boolean
  readonly removeScrollBar?: boolean
  readonly shards?: ReadonlyArray<unknown>
  readonly ref?: Ref<HTMLDivElement>
}

export const RemoveScroll = ({
  allowPinchZoom: _pinch,
  as: Element = "div",
  enabled = true,
  removeScrollBar: _bar,
  shards: _shards,
  ...rest
}: Props) => {
  useLock(enabled)
  return <Element {...rest} />
}

RemoveScroll.classNames = { fullWidth: "", zeroRight: "" }

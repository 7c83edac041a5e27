/** The announcements of administrators, above every screen. */
import { Markdown } from "../ui/text/Markdown.js"
import { useAppearance } from "./session.js"

const isColour = (value: string | undefined): value is string => value !== undefined && /^#[0-9a-f]{6}$/i.test(value)

/** Black or white, whichever can be read better. */
const textOn = (colour: string): string => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff"
}

export const Banners = () => {
  const appearance = useAppearance()
  const banners = (appearance?.announcement_banners ?? []).filter(
    ({ enabled, message }) => enabled && message !== undefined && message.trim() !== ""
  )
  return banners.map(({ background_color, message = "" }, index) => (
    <div
      key={index}
      className="banner"
      role="status"
      style={isColour(background_color) ? { background: background_color, color: textOn(background_color) } : undefined}
    >
      <Markdown text={message} fallback={message} />
    </div>
  ))
}

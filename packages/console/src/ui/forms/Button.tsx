import { Link, type LinkProps } from "@tanstack/react-router"
import type { ComponentProps, ReactNode } from "react"
import { Tooltip } from "../floating/Tooltip.js"
import "./Button.css"

export type ButtonKind = "primary" | "secondary" | "quiet" | "danger"

interface Look {
  /** Default `secondary`. A screen has one `primary` button. */
  readonly kind?: ButtonKind | undefined
  readonly size?: "small" | "medium" | undefined
  readonly icon?: ReactNode
}

export interface ButtonProps extends ComponentProps<"button">, Look {
  /** The action goes on: the button turns, and cannot be pressed again. */
  readonly isBusy?: boolean | undefined
}

const classOf = ({ kind = "secondary", size = "medium" }: Look, other = ""): string => `button button-${kind} button-${size} ${other}`

export const Button = ({ children, className, disabled, icon, isBusy = false, kind, size, type = "button", ...rest }: ButtonProps) => (
  <button
    type={type}
    className={classOf({ kind, size }, className)}
    disabled={disabled === true || isBusy}
    aria-busy={isBusy || undefined}
    {...rest}
  >
    {isBusy ? <span className="spinner" aria-hidden /> : icon}
    {children === undefined ? null : <span className="button-label">{children}</span>}
  </button>
)

export interface IconButtonProps extends Omit<ButtonProps, "children" | "icon"> {
  readonly icon: ReactNode
  /** What the button does: its name for screen readers, and its tooltip. */
  readonly label: string
  /** The key that does the same. */
  readonly keys?: string | undefined
}

export const IconButton = ({ className, icon, keys, kind = "quiet", label, ...rest }: IconButtonProps) => (
  <Tooltip label={label} keys={keys}>
    <Button className={`icon-button ${className ?? ""}`} kind={kind} icon={icon} aria-label={label} {...rest} />
  </Tooltip>
)

/** A link to another screen that looks like a button. */
export const ButtonLink = ({
  children,
  className,
  icon,
  kind,
  size,
  ...link
}: LinkProps & Look & { readonly className?: string; readonly children?: ReactNode }) => (
  <Link className={classOf({ kind, size }, className)} {...link}>
    {icon}
    <span className="button-label">{children}</span>
  </Link>
)

/** A link to a page of the server or of another site that looks like a button. */
export const ButtonAnchor = ({ children, className, icon, kind, size, ...rest }: ComponentProps<"a"> & Look) => (
  <a className={classOf({ kind, size }, className)} {...rest}>
    {icon}
    <span className="button-label">{children}</span>
  </a>
)

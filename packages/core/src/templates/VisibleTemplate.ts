import { Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { missingTemplate, type TemplateWithNames } from "./Template.js"

/** The template that was found, for actors who may read it; for all others, and once it is deleted, there is none. */
export const visibleTemplate = (found: Option.Option<TemplateWithNames>) =>
  Access.visible(Option.getOrNull(Option.filter(found, ({ deleted }) => !deleted)), AccessObjects.template, missingTemplate)

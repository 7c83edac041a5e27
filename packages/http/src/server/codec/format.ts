import { SchemaAST as AST } from "effect"

/** Whether a schema says that its texts have a format of JSON Schema. */
export const hasFormat = (ast: AST.Annotated, format: "uuid" | "date-time"): boolean => {
  const schema = ast.annotations[AST.JSONSchemaAnnotationId]
  return typeof schema === "object" && schema !== null && "format" in schema && schema.format === format
}

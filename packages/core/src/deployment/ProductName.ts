/** The word in the names of headers, cookies and variables where a host gives none. */
export const neutralBrand = "Service"

/** What people read as the product's name: the host's brand, and Atelier where the host gives none. */
export const productName = (brand: string): string => (brand === neutralBrand ? "Atelier" : brand)

"""The words by which documents name their fields, in English, German, French and Japanese.

Every entry is part of a regular expression that ignores case; the text it meets is in NFKC.
"""

NO = r"(?:(?:number|nummer|num[ée]ro|nr|no|id)\b|n°|#|番号)\.?"

KINDS = {
    "credit_note": r"credit (?:note|memo)|gutschrift|stornorechnung|avoir",
    "invoice": r"invoice|(?:schluss|teil|abschlags|sammel)?rechnung|facture|[ご御]?請求書",
    "statement": r"(?:account |bank |card )?statement(?: of account)?|kontoauszug"
    r"|relevé de compte|(?:利用|取引|入出金)明細書?",
    "receipt": r"receipt|quittung|kassenbon|kassenbeleg|reçu|領収[書証]",
    "quote": r"quotation|quote|angebot|devis|[ご御]?見積書",
    "order": r"purchase order|order (?:confirmation|form)|bestellung|auftragsbestätigung"
    r"|bon de commande|注文書|発注書",
    "delivery_note": r"delivery note|packing (?:slip|list)|lieferschein|bon de livraison|納品書",
    "contract": r"agreement|contract|\w*vertrag|contrat|\w*契約書",
    "form": r"(?:application )?form|application for\b.*|formular|\w*antrag|formulaire"
    r"|\w*申[請込]書",
    "report": r"report|\w*bericht|rapport|\w*報告書",
}

EXPECTED = {
    "invoice": ("number", "date", "currency", "total"),
    "credit_note": ("number", "date", "currency", "total"),
    "receipt": ("date", "currency", "total"),
    "quote": ("number", "date", "currency", "total"),
    "order": ("number", "date", "currency", "total"),
    "statement": ("date", "currency", "total"),
    "contract": ("number", "date"),
}
"""Which fields a document of a kind ought to have; kinds with a total are those that list one."""

NUMBERS = {
    "invoice": rf"(?:tax )?invoice {NO}|rechnungs?[ -]?{NO}|(?:n° |numéro )(?:de )?facture"
    rf"|facture {NO}|請求書?{NO}",
    "credit_note": rf"credit (?:note|memo) {NO}|gutschrift(?:s?[ -]?){NO}|avoir {NO}",
    "receipt": rf"receipt {NO}|(?:quittungs?|beleg|bon)[ -]?{NO}|reçu {NO}|領収[書証]?{NO}",
    "quote": rf"(?:quote|quotation) {NO}|angebots?[ -]?{NO}|devis {NO}|見積書?{NO}",
    "order": rf"(?:purchase )?order {NO}|po {NO}|(?:bestell|auftrags)[ -]?{NO}|注文書?{NO}",
    "statement": rf"statement {NO}|(?:konto)?auszugs?[ -]?{NO}|relevé {NO}|明細書?{NO}",
    "contract": rf"(?:contract|agreement) {NO}|vertrags?[ -]?{NO}|contrat {NO}"
    rf"|n° (?:de )?contrat|契約書?{NO}",
    "delivery_note": rf"delivery note {NO}|lieferschein[ -]?{NO}|納品書?{NO}",
}
ANY_NUMBER = rf"(?:document|reference|doc\.?) {NO}|beleg[ -]?{NO}|管理{NO}|no\.|nr\."

DATES = {
    "invoice": r"invoice date|date of invoice|rechnungsdatum|date de (?:la )?facture|請求日",
    "receipt": r"receipt date|belegdatum|領収日",
    "quote": r"quot(?:e|ation) date|angebotsdatum|見積日",
    "order": r"order date|bestelldatum|注文日",
    "statement": r"statement date|auszugsdatum|kontoauszug vom|作成日",
    "contract": r"(?:contract|agreement) date|vertragsdatum|date du contrat|(?:契約)?締結日|契約日",
}
ANY_DATE = (
    r"date of issue|issue date|date issued|issued(?: on)?|dated|date|ausstellungsdatum|datum|vom"
    r"|date d'émission|fait le|発行年?月?日|日付"
)
CONTRACT_DATE = (
    r"(?:made|entered into|concluded|dated)(?: and entered into)?(?: as of| on)?(?: this)?"
    r"|effective (?:date|as of)|geschlossen am|conclu le"
)
"""Stands inside a sentence: 'This agreement is made on 3 March 2026 between …'."""

TOTALS = (
    r"grand total|invoice total|total invoice amount|total amount|total incl(?:uding|\.)?(?: \w+)?"
    r"|gesamtbetrag|rechnungsbetrag|gesamtsumme|endbetrag|bruttobetrag|total ttc|合計金額"
    r"|closing balance|new balance|endsaldo|neuer saldo|neuer kontostand|(?:期末|差引)残高",
    r"total (?:amount )?due|amount due|balance due|amount payable|zahlbetrag|zu zahlen"
    r"|net à payer|net a payer|[ご御]請求(?:金額|額)",
    r"total|summe|gesamt|総?合計|総額",
)
NET = r"sub-?\s?total|net (?:amount|total)|total net|zwischensumme|nettobetrag|netto|total ht|小計"
TAX = (
    r"(?:sales )?tax|vat|total (?:tax|vat)|(?:zzgl\.? )?(?:mwst|ust|umsatzsteuer|mehrwertsteuer)\.?"
    r"|(?:total )?tva|消費税"
)
CURRENCY = r"currency|währung|devise|通貨"

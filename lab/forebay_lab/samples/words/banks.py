"""A bank for each market."""

from forebay_lab.samples.market import Party

BANKS = {
    "us": Party("Harbor National Bank", "1 Pier Plaza", "Baltimore, MD 21201"),
    "gb": Party("Harbour Bank plc", "2 Exchange Row", "Bristol BS1 4ND"),
    "de": Party("Talbank eG", "Marktplatz 4", "99084 Erfurt"),
    "fr": Party("Crédit des Vallées", "5 rue de la Bourse", "69002 Lyon"),
    "es": Party("Banco del Norte S.A.", "Gran Vía, 40", "48009 Bilbao"),
    "it": Party("Banca delle Alpi S.p.A.", "Via Roma, 18", "10121 Torino TO"),
    "pt": Party("Banco do Tejo S.A.", "Rua Augusta, 70", "1100-053 Lisboa"),
    "br": Party("Banco da Serra S.A.", "Av. Paulista, 1200", "01310-100 São Paulo - SP"),
    "nl": Party("Polderbank N.V.", "Herengracht 9", "1015 BA Amsterdam"),
    "ch": Party("Gotthard Bank AG", "Bahnhofstrasse 5", "6460 Altdorf"),
    "jp": Party("みなと銀行本店", "港町1-1", "〒650-0042 神戸市中央区"),
}

"""Units of measure: spelling → class and exact factor to the base unit of the class.

Base units: second, month (a month is no fixed number of days), working day, byte, bit per second, metre,
gram, litre, hertz, watt, watt hour, volt, percent, each scale of degrees, and one per currency.
"""

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from clearcite.text.forms import clean_text

Unit = tuple[str, Fraction]

_FAMILIES: dict[str, dict[str, str]] = {
    "duration": {
        "ns nanosecond nanoseconds": "1/1000000000",
        "µs μs us microsecond microseconds": "1/1000000",
        "ms millisecond milliseconds milissegundo milissegundos": "1/1000",
        "s sec secs second seconds seg segundo segundos 秒": "1",
        "min mins minute minutes minuto minutos 分钟 分間": "60",
        "h hr hrs hour hours hora horas 小时 時間": "3600",
        "d day days dia dias día días 天 日間": "86400",
        "w wk wks week weeks semana semanas 周 週間": "604800",
        "fortnight fortnights quinzena quinzenas": "1209600",
    },
    "months": {
        "month months mo mos mês mes meses 个月 か月 ヶ月": "1",
        "quarter quarters trimestre trimestres": "3",
        "semestre semestres": "6",
        "y yr yrs year years ano anos año años 年": "12",
        "decade decades década décadas": "120",
    },
    "working-days": {
        "business\tday business\tdays working\tday working\tdays": "1",
        "dia\tútil dias\túteis dia\tutil dias\tuteis 个工作日": "1",
    },
    "bytes": {
        "B byte bytes 字节": "1",
        "kB KB kb kilobyte kilobytes": "1000",
        "MB mb megabyte megabytes": "1000000",
        "GB gb gigabyte gigabytes": "1000000000",
        "TB tb terabyte terabytes": "1000000000000",
        "PB petabyte petabytes": "1000000000000000",
        "KiB kibibyte kibibytes": "1024",
        "MiB mebibyte mebibytes": "1048576",
        "GiB gibibyte gibibytes": "1073741824",
        "TiB tebibyte tebibytes": "1099511627776",
    },
    "bits": {
        "bit bits": "1",
        "kbit kbits Kb": "1000",
        "Mbit Mbits Mb": "1000000",
        "Gbit Gbits Gb": "1000000000",
    },
    "bits/second": {"bps": "1", "kbps Kbps": "1000", "Mbps": "1000000", "Gbps": "1000000000"},
    "length": {
        "nm nanometre nanometer nanometres nanometers": "1/1000000000",
        "µm μm micron microns micrometre micrometres micrometer micrometers": "1/1000000",
        "mm millimetre millimetres millimeter millimeters milímetro milímetros": "1/1000",
        "cm centimetre centimetres centimeter centimeters centímetro centímetros": "1/100",
        "m metre metres meter meters metro metros 米": "1",
        "km kilometre kilometres kilometer kilometers quilômetro quilômetros quilómetros 公里": "1000",
        "inch inches polegada polegadas": "127/5000",
        "ft foot feet": "381/1250",
        "yd yard yards": "1143/1250",
        "mi mile miles milha milhas": "201168/125",
    },
    "mass": {
        "µg μg mcg microgram micrograms": "1/1000000",
        "mg milligram milligrams miligrama miligramas": "1/1000",
        "g gram grams grama gramas": "1",
        "kg kgs kilo kilos kilogram kilograms quilo quilos quilograma quilogramas 公斤": "1000",
        "t tonne tonnes tonelada toneladas": "1000000",
        "oz ounce ounces": "45359237/1600000",
        "lb lbs pound\tweight": "45359237/100000",
    },
    "volume": {
        "ml mL millilitre millilitres milliliter milliliters mililitro mililitros": "1/1000",
        "cl": "1/100",
        "dl dL": "1/10",
        "l L litre litres liter liters litro litros": "1",
    },
    "percent": {"% percent per\tcent pct por\tcento": "1", "basis\tpoints basis\tpoint": "1/100"},
    "celsius": {"°C ℃ degrees\tcelsius graus\tcelsius graus": "1"},
    "fahrenheit": {"°F degrees\tfahrenheit": "1"},
    "degrees": {"° degrees degree": "1"},
    "frequency": {"Hz": "1", "kHz": "1000", "MHz": "1000000", "GHz": "1000000000"},
    "power": {"mW": "1/1000", "W watt watts": "1", "kW": "1000", "MW": "1000000"},
    "energy": {"Wh": "1", "kWh": "1000", "MWh": "1000000"},
    "voltage": {"mV": "1/1000", "V volt volts": "1", "kV": "1000"},
    "pixels": {"px pixel pixels": "1"},
    "currency:USD": {"USD dollar dollars dólar dólares 美元": "1"},
    "currency:EUR": {"EUR euro euros 欧元": "1"},
    "currency:GBP": {"GBP pounds pound quid": "1"},
    "currency:BRL": {"BRL reais": "1"},
    "currency:JPY": {"JPY yen 日元 円": "1"},
    "currency:CNY": {"CNY RMB yuan 元": "1"},
    "currency:CHF": {"CHF francs": "1"},
    "currency:CAD": {"CAD": "1"},
    "currency:AUD": {"AUD": "1"},
    "currency:INR": {"INR rupee rupees": "1"},
}

UNITS: Mapping[str, Unit] = MappingProxyType(
    {
        clean_text(spelling.replace("\t", " ")): (family, Fraction(factor))
        for family, members in _FAMILIES.items()
        for spellings, factor in members.items()
        for spelling in spellings.split(" ")
    }
)

CURRENCY_SIGNS: Mapping[str, str] = MappingProxyType(
    {
        "US$": "USD", "R$": "BRL", "C$": "CAD", "A$": "AUD", "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY",
        "₹": "INR", "USD": "USD", "EUR": "EUR", "GBP": "GBP", "BRL": "BRL", "CHF": "CHF", "JPY": "JPY",
    }
)  # fmt: skip

MAGNITUDES: Mapping[str, int] = MappingProxyType(
    {
        "k": 10**3, "thousand": 10**3, "mil": 10**3, "m": 10**6, "mn": 10**6, "million": 10**6,
        "millions": 10**6, "milhão": 10**6, "milhões": 10**6, "bn": 10**9, "b": 10**9, "billion": 10**9,
        "billions": 10**9, "bilhão": 10**9, "bilhões": 10**9, "万": 10**4, "亿": 10**8,
    }
)  # fmt: skip

# Time units a rate can be per: "10 requests per minute", "100/s", "por dia".
RATE_UNITS: Mapping[str, str] = MappingProxyType(
    {
        spelling: name
        for name, spellings in {
            "second": "s sec second segundo",
            "minute": "min minute minuto",
            "hour": "h hr hour hora",
            "day": "d day dia",
            "week": "wk week semana",
            "month": "mo month mês mes",
            "year": "yr year ano annum",
        }.items()
        for spelling in spellings.split()
    }
)

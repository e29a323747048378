# docker build -t headlight . && docker run -p 8501:8501 headlight
FROM python:3.11-slim

# Where other builds of torch are, as PyTorch's page on its installation names it. The one for the
# CPU alone is a tenth of the size of the one for CUDA, which pip takes by itself.
ARG TORCH_INDEX=

WORKDIR /headlight
COPY requirements.txt .
RUN pip install --no-cache-dir ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} -r requirements.txt

COPY .streamlit .streamlit
COPY app.py .
COPY model model
COPY pages pages
COPY talks talks
COPY viz viz

# Nothing is written but the models that visitors ask for, into this home folder.
RUN useradd --create-home visitor
USER visitor

EXPOSE 8501
HEALTHCHECK --start-period=60s CMD \
    ["python", "-c", "import urllib.request as u; u.urlopen('http://localhost:8501/_stcore/health', timeout=5)"]
CMD ["python", "-m", "streamlit", "run", "app.py", "--server.address", "0.0.0.0", "--server.port", "8501", "--server.headless", "true"]
